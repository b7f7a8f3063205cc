/**
 * Which character stands between the fields. The one that makes an `email` column of the header, and
 * among those the one that makes most columns; a line `sep=;` before the header, as spreadsheet
 * programs write it, says so itself.
 */

import { isBlankRecord, RECORD_LIMITS } from './header.ts'
import { type CsvRecord, createCsvParser } from './parser.ts'

export type Beginning = {
  delimiter: string
  /** Lines before the header. */
  skippedLines: 0 | 1
}

/** A sample may be thousands of records; the first is mostly in so many characters. */
const STEP = 1024

const delimiters = [',', ';', '\t', '|']
const declaration = /^"?sep=([,;\t|])"?(?:\r\n|\r|\n|$)/i

/** `isEmail` says whether a header names the address. */
export function detectDelimiter(sample: string, isEmail: (header: string) => boolean): Beginning {
  const declared = declaration.exec(sample)?.[1]
  if (declared !== undefined) return { delimiter: declared, skippedLines: 1 }
  const ranked = delimiters
    .map((delimiter) => {
      const cells = firstRecord(sample, delimiter)?.cells ?? []
      const hasEmail = cells.some(({ text }) => isEmail(text))
      return { delimiter, rank: (hasEmail ? RECORD_LIMITS.maxCells + 1 : 0) + cells.length }
    })
    .sort((one, other) => other.rank - one.rank)
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
