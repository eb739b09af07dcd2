// One colour for one meaning, on every page. Okabe and Ito's palette: told apart with any colour
// vision. What has a meaning has its colour; everything else takes one by its place.

/** @type {[RegExp, string][]} */
const MEANINGS = [
  [/^(input(?! (reduce )?fusion)|infeed|iterator|dataset)\b/i, "--c-input"], // XLA's input fusions are not input
  [/^output|^outfeed/i, "--c-output"],
  [/compil/i, "--c-compile"],
  [/^(kernel )?launch/i, "--c-launch"],
  [/collective|all.?reduce/i, "--c-collective"],
  [/device (to device|copy)|memcpy|copies/i, "--c-copy"],
  [/^own code$/i, "--c-6"],
  [/host compute|^host$/i, "--c-host"],
  [/device compute|^compute$/i, "--c-device"],
  [/^free$/i, "--c-free"],
  [/idle|all others|^others?$|unknown/i, "--c-other"],
];
const PLACES = 8;
/** @type {Record<string, number>} Colours with a meaning that are those of a place, too. */
const PLACE_OF = {
  "--c-device": 0,
  "--c-host": 1,
  "--c-collective": 2,
  "--c-launch": 3,
  "--c-copy": 4,
  "--c-6": 6,
  "--c-compile": 7,
};

/**
 * The CSS colour of a part called `name`, the `place`-th of its chart.
 *
 * @param {string} name
 * @param {number} place
 */
export function colourOf(name, place) {
  return `var(${meaningOf(name) ?? `--c-${place % PLACES}`})`;
}

/** @param {string} name */
function meaningOf(name) {
  return MEANINGS.find(([pattern]) => pattern.test(name))?.[1];
}

/**
 * Colours of the parts of one chart by name, each another one while there are enough.
 *
 * @param {string[]} names
 */
export function coloursOf(names) {
  const taken = new Set(names.map((name) => PLACE_OF[meaningOf(name) ?? ""]));
  /** @type {Map<string, string>} */
  const colours = new Map();
  names.forEach((name, at) => {
    if (colours.has(name)) return;
    let place = at;
    while (taken.has(place % PLACES) && place < at + PLACES) place += 1;
    if (!meaningOf(name)) taken.add(place % PLACES);
    colours.set(name, colourOf(name, place));
  });
  return colours;
}
