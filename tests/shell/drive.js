// Evaluated in the shell before every call of drive.py: real key and pointer events from a Clutter virtual device, so
// that the shell handles them as those of a keyboard and a mouse, with grabs, focus, shortcuts and X11 clients.
globalThis.__lab ??= (() => {
    const {Clutter} = imports.gi;
    const backend = Clutter.get_default_backend?.() ?? global.stage.context.get_backend();
    const seat = backend.get_default_seat();
    const keyboard = seat.create_virtual_device(Clutter.InputDeviceType.KEYBOARD_DEVICE);
    const pointer = seat.create_virtual_device(Clutter.InputDeviceType.POINTER_DEVICE);
    const now = () => GLib.get_monotonic_time();
    const sleep = ms => new Promise(resolve => {
        GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, () => {
            resolve();
            return GLib.SOURCE_REMOVE;
        });
    });

    const names = actor => [
        actor.name, actor.accessible_name, actor.label, actor.text, actor.hint_text, actor.label_actor?.text,
    ];
    const shown = actor => actor.mapped && actor.get_paint_opacity() > 0
        ? [actor, ...actor.get_children().flatMap(shown)]
        : [];

    function describe(actor) {
        const [x, y] = actor.get_transformed_position();
        const [w, h] = actor.get_transformed_size();
        return {
            x, y, w, h,
            type: actor.constructor.name,
            text: actor.text ?? actor.label ?? null,
            name: actor.accessible_name ?? null,
            focused: !!global.stage.key_focus && actor.contains(global.stage.key_focus),
            reactive: actor.reactive,
        };
    }

    // By actor name, accessible name, label, text or hint; the topmost match wins.
    function actor(name) {
        return shown(global.stage).filter(found => names(found).includes(name)).pop() ?? null;
    }

    function find(name) {
        const found = actor(name);
        return found && describe(found);
    }

    async function press(keyvals) {
        for (const keyval of keyvals) {
            keyboard.notify_keyval(now(), keyval, Clutter.KeyState.PRESSED);
            await sleep(8);
        }
        for (const keyval of [...keyvals].reverse()) {
            keyboard.notify_keyval(now(), keyval, Clutter.KeyState.RELEASED);
            await sleep(8);
        }
    }

    const aliases = {
        Super: 'Super_L', Ctrl: 'Control_L', Alt: 'Alt_L', Shift: 'Shift_L', Enter: 'Return', Esc: 'Escape',
    };

    async function key(...combinations) {
        for (const combination of combinations) {
            await press(combination.split('+').map(name => {
                const keyval = Clutter[`KEY_${aliases[name] ?? name}`];
                if (keyval === undefined)
                    throw new Error(`no key ${name}`);
                return keyval;
            }));
        }
        await sleep(60);
    }

    async function type(text) {
        for (const part of text.match(/[ -~]+|[^ -~]+/g) ?? []) {
            if (part > '~') {
                Main.inputMethod.commit(part); // no key for it in the US layout: as an input method would
            } else {
                for (const char of part)
                    await press([Clutter.unicode_to_keysym(char.codePointAt(0))]);
            }
            await sleep(60);
        }
    }

    async function move(x, y) {
        for (let i = 0; i < 20; i++) { // the first motion of a new device may get lost
            pointer.notify_absolute_motion(now(), x, y);
            await sleep(25);
            const [px, py] = global.get_pointer();
            if (Math.abs(px - x) < 2 && Math.abs(py - y) < 2)
                break;
        }
    }

    async function click(x, y, button = 1) {
        await move(x, y);
        pointer.notify_button(now(), button, Clutter.ButtonState.PRESSED);
        await sleep(20);
        pointer.notify_button(now(), button, Clutter.ButtonState.RELEASED);
        await sleep(60);
    }

    return {actor, describe, find, shown, key, type, move, click, sleep};
})();
