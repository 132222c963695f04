// Functions for `screens.rs`: they bring the page of a player into a state, and measure it.

(() => {
    const find = (selector) => document.querySelector(selector);
    const say = (selector, text) => (find(selector).textContent = text);
    const show = (selector, isShown = true) => (find(selector).hidden = !isShown);

    // More and longer lines than a match has, so that every place is full.
    const fill = (selector, count, text) => {
        const lines = Array.from({ length: count }, (_, number) => {
            const line = document.createElement("li");
            line.textContent = `${text} ${number}`;
            return line;
        });
        find(selector).replaceChildren(...lines);
    };

    const card = (kind, title, rows = 0) => {
        show("#centre");
        find("#centre").dataset.kind = kind;
        say("#centre strong", title);
        say("#centre p", kind === "death" ? "You are back in 3 s" : "Next: warren in 6 s");
        show("#centre table", rows > 0);
        const table = find("#centre tbody");
        table.replaceChildren();
        for (let place = 1; place <= rows; place++) {
            const row = table.insertRow();
            for (const text of [place, `A player with a long name ${place}`, 30 - place]) {
                row.insertCell().textContent = String(text);
            }
            for (const [cell, name] of ["number", "name", "number"].entries()) row.cells[cell].className = name;
        }
    };
    const died = () => card("death", "Somebody with a long name killed you, with a grenade");
    const warned = () => say("#play .line", "Bad line: 71 % of the snapshots do not come, and they come late");
    const idle = () => say("#play .word", "Still there? Move, or you leave the match in 17 s.");
    const chat = () => show("#chat");
    const note = () => {
        chat();
        show("#chat p");
        say("#chat p", "/name NAME renames you\n/kick NAME asks for a vote\n/map NAME asks for a vote\n/help");
    };
    const values = () => {
        for (const list of ["#match-values", "#own-values"]) {
            show(list);
            const pair = "<div><dt>Flags of the blue team</dt><dd>12</dd></div>";
            find(list).innerHTML = pair.repeat(4);
        }
    };
    const graph = () => show(".graph");

    const STATES = {
        "nothing special": [],
        "the chat is open": [chat],
        "a warning": [warned],
        "the graph": [graph],
        "all at once": [chat, warned, graph],
        "the values of a game": [values, warned, graph],
        "a note of the chat": [note, warned],
        "a note and values": [note, values, warned],
        "an idle player": [idle, warned, graph],
        "dead": [died, warned, graph],
        "dead and talking": [died, chat],
        "dead and idle": [died, idle],
        "intermission": [() => card("result", "Somebody with a long name wins", 5), graph],
        "intermission and talking": [() => card("result", "It is a draw", 5), chat, warned],
        "dead, with values": [died, values, warned],
        "intermission with values": [() => card("result", "It is a draw", 5), values, chat, warned],
        "the players": [() => (find("#score").open = true), warned, graph],
    };

    const reset = (byFinger) => {
        show(".touch", byFinger);
        for (const hidden of [".graph", "#chat", "#chat p", "#centre", "#match-values", "#own-values"]) show(hidden, false);
        for (const silent of ["#play .line", "#play .word"]) say(silent, "");
        find("#score").open = false;
        show("#clock");
        say("#clock", "Warm-up 0:42");
        fill("#kills", 5, "Somebody ▸ somebody else (rocket)");
        fill("#toasts", 3, "the flag was taken");
        fill("#news", 6, "Somebody: a line that is so long that it needs more than one line of the screen");
    };

    const SELECTED = `#status, #verdict, #choose, #views, #figures, .panel, #clock, #centre, .graph,
        #kills li, #toasts li, #news li, .values div, #play p, #play dl, #chat input, .touch button, .stick,
        #ask, #open, #join, #rewind, #trouble, #welcome`;

    // The part of an element's box that its scrolling or clipping parents leave visible.
    const visible = (element) => {
        let { left, top, right, bottom } = element.getBoundingClientRect();
        for (let up = element.parentElement; up !== document.body; up = up.parentElement) {
            if (getComputedStyle(up).overflowY === "visible") continue;
            const box = up.getBoundingClientRect();
            [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
            [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
        }
        return { left, top, right, bottom };
    };

    const named = (element) => element.id || element.name || `${element.parentElement.id} ${element.className || element.tagName}`;

    // The part of the screen without a notch.
    const safe = () => {
        const probe = document.createElement("i");
        probe.style.position = "fixed";
        for (const side of ["top", "right", "bottom", "left"]) probe.style[side] = `env(safe-area-inset-${side})`;
        document.body.append(probe);
        const box = probe.getBoundingClientRect();
        probe.remove();
        return box;
    };

    // Half a pixel is no overlap: places are computed in fractions of pixels.
    const LEAST = 0.5;

    const faults = () => {
        const area = safe();
        const shown = [...document.querySelectorAll(SELECTED)]
            .filter((element) => element.checkVisibility({ visibilityProperty: true }))
            .map((element) => [element, visible(element)])
            .filter(([, box]) => box.right - box.left > 1 && box.bottom - box.top > 1);
        const out = shown
            .filter(([, box]) => box.left < area.left - LEAST || box.top < area.top - LEAST
                || box.right > area.right + LEAST || box.bottom > area.bottom + LEAST)
            .map(([element]) => `${named(element)} sticks out`);
        shown.forEach(([one, a], index) => shown.slice(index + 1).forEach(([other, b]) => {
            if (one.contains(other) || other.contains(one)) return;
            const isOver = Math.min(a.right, b.right) - Math.max(a.left, b.left) > LEAST
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > LEAST;
            if (isOver) out.push(`${named(one)} is on ${named(other)}`);
        }));
        return { count: shown.length, faults: [...new Set(out)] };
    };

    globalThis.screens = {
        names: Object.keys(STATES),
        // The page keeps updating itself, so one call makes a state and measures it.
        measure: (name, byFinger) => {
            reset(byFinger);
            for (const act of STATES[name]) act();
            return faults();
        },
        faults,
    };
})();
