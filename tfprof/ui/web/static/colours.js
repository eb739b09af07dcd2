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

/**
 * The CSS colour of a part called `name`, the `place`-th of its chart.
 *
 * @param {string} name
 * @param {number} place
 */
export function colourOf(name, place) {
  const known = MEANINGS.find(([pattern]) => pattern.test(name));
  return `var(${known ? known[1] : `--c-${place % PLACES}`})`;
}
