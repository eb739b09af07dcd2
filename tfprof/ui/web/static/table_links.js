// Where cells of a table lead to.

import { unpacked } from "./columns.js";

/** @import { TableBlock } from "./documents" */
/** @import { Context } from "./types" */

const PROGRAM_PAGES = new Set(["graph-viewer", "memory-viewer"]);

/**
 * By column: the address behind the cell of a row, or null. The program of an instruction goes along:
 * others have instructions of the same name.
 *
 * @param {TableBlock} block
 * @param {any[]} columns
 * @param {Partial<Context>} context
 */
export function linksOf(block, columns, context) {
  const { address } = context;
  if (!address) return new Map();
  const programs = columns.find((each) => each.id === block.program_column)?.values;
  return new Map(
    Object.entries(block.links ?? {}).map(([id, link]) => {
      const at = link.at ? unpacked(link.at) : null;
      const values = link.values ? unpacked(link.values) : columns.find((each) => each.id === id)?.values;
      return [
        id,
        (/** @type {number} */ row) => {
          const way = at ? at[row] : 0;
          if (way < 0 || !values?.[row]) return null;
          const [page, param] = link.ways[way];
          const program = programs ? programs[row] : block.program;
          return address(page, {
            [param]: values[row],
            ...(program && PROGRAM_PAGES.has(page) ? { program } : {}),
          });
        },
      ];
    }),
  );
}
