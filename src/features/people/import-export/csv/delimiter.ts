/**
 * Detects the delimiter: a line `sep=;` before the header names it, as spreadsheet programs write.
 * Otherwise it is the character with which the header has an address column; among several such
 * characters, the one with which the header has the most columns.
 */

import { repairRecord } from './damage.ts'
import { isBlankRecord, RECORD_LIMITS } from './header.ts'
import { type CsvRecord, createCsvParser } from './parser.ts'

type Beginning = {
  delimiter: string
  /** Number of lines before the header. */
  skippedLines: 0 | 1
}

/** Characters that are parsed at a time: mostly enough for the first record of a long sample. */
const STEP = 1024

const DELIMITERS = [',', ';', '\t', '|']
const DECLARATION = /^"?sep=([,;\t|])"?(?:\r\n|\r|\n|$)/i

/** `isNameOfAddress`: whether a header names the address column. */
export function detectDelimiter(
  sample: string,
  isNameOfAddress: (header: string) => boolean,
): Beginning {
  const declared = DECLARATION.exec(sample)?.[1]
  if (declared !== undefined) return { delimiter: declared, skippedLines: 1 }
  const ranked = DELIMITERS.map((delimiter) => {
    const first = firstRecord(sample, delimiter)
    const cells = first === undefined ? [] : repairRecord(first).record.cells
    const hasAddressColumn = cells.some(({ text }) => isNameOfAddress(text))
    return { delimiter, rank: (hasAddressColumn ? RECORD_LIMITS.maxCells + 1 : 0) + cells.length }
  }).sort((one, other) => other.rank - one.rank)
  return { delimiter: ranked[0]?.delimiter ?? ',', skippedLines: 0 }
}

function firstRecord(sample: string, delimiter: string): CsvRecord | undefined {
  const parser = createCsvParser({ delimiter, ...RECORD_LIMITS })
  for (let at = 0; at < sample.length; at += STEP) {
    const found = parser.push(sample.slice(at, at + STEP)).find(isFilled)
    if (found !== undefined) return found
  }
  return parser.end().find(isFilled)
}

function isFilled(record: CsvRecord): boolean {
  return !isBlankRecord(record)
}
