/**
 * Reads an import file as rows, chunk by chunk; other work runs between two chunks, and within one.
 *
 * A line such as `sep=;` before the header names the delimiter, as spreadsheet programs write it.
 * Otherwise the delimiter is the character with which the header has an address column; among
 * several such characters, the character with which the header has the most columns.
 */
import { setImmediate } from 'node:timers/promises'
import { and, eq } from '../../../store/drizzle.ts'
import { importChunks } from '../../../store/schema/jobs.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { FinalFailure } from '../../../work/jobs/run.ts'
import type { Base } from '../../ground/base.ts'
import type { Mapping } from './csv/column-names.ts'
import {
  type DecodedPiece,
  decode,
  type Encoding,
  findReplaced,
  type RowDamage,
  repairRecord,
} from './csv/encoding.ts'
import {
  type Header,
  isAddressHeader,
  isBlankRecord,
  RECORD_LIMITS,
  readHeader,
} from './csv/header.ts'
import { type CsvParser, type CsvRecord, createCsvParser } from './csv/parser.ts'

/** The rows that end in one chunk of the file, without blank rows. */
type RowBatch = {
  header: Header
  rows: FileRow[]
  /** Bytes of the file up to the end of this batch. */
  bytesRead: number
  encoding: Encoding
}

/**
 * `number`: the position of the row in the file; the header is row 1, even if it takes several
 * lines.
 */
export type FileRow = { number: number; record: CsvRecord; damage?: RowDamage }

type Deps = Pick<Base, 'store'>

type Source = { uploadId: string; mapping: Mapping; filename: string }

type ReaderState = { parser: CsvParser; skippedLines: number; header?: Header; rows: number }

/** The first bytes of a ZIP archive; a workbook is a ZIP archive, too. */
const ARCHIVE = Buffer.from('PK\x03\x04')
/**
 * The number of characters that are parsed at once. A row may have only two characters, so this
 * limits the rows as well.
 */
const PARSED_AT_ONCE = 8 * 1024

const selectChunk = statement((db) =>
  db
    .select({ bytes: importChunks.bytes })
    .from(importChunks)
    .where(
      and(
        eq(importChunks.uploadId, parameter('uploadId')),
        eq(importChunks.number, parameter('number')),
      ),
    ),
)

type NextRecords = { records: CsvRecord[]; piece: DecodedPiece; source: Source }

type Repaired = { record: CsvRecord; damage: { damage?: RowDamage } }

type Beginning = {
  delimiter: string
  /** Number of lines before the header. */
  skippedLines: 0 | 1
}

/**
 * The number of characters that are parsed at a time: mostly enough for the first record, so that
 * the rest of a long sample is not parsed.
 */
const STEP = 1024

const DELIMITERS = [',', ';', '\t', '|']
const DECLARATION = /^"?sep=([,;\t|])"?(?:\r\n|\r|\n|$)/i

/** Yields the rows of a file. @throws FinalFailure for a file without a usable header */
export async function* readRows(deps: Deps, source: Source): AsyncGenerator<RowBatch> {
  let state: ReaderState | undefined
  let last: DecodedPiece | undefined
  for await (const piece of decode(readChunks(deps, source))) {
    last = piece
    state ??= openReader(piece.text, source)
    const batches: RowBatch[] = []
    for (let at = 0; at < piece.text.length; at += PARSED_AT_ONCE) {
      if (at > 0) await setImmediate()
      const records = state.parser.push(piece.text.slice(at, at + PARSED_AT_ONCE))
      const batch = toBatch(state, { records, piece, source })
      if (batch !== undefined) batches.push(batch)
    }
    const [first] = batches
    if (first !== undefined) yield { ...first, rows: batches.flatMap(({ rows }) => rows) }
  }
  const records = state?.parser.end() ?? []
  const batch = state && last && toBatch(state, { records, piece: last, source })
  if (batch === undefined) throw new FinalFailure('The file is empty.')
  yield batch
}

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

async function* readChunks({ store }: Deps, { uploadId }: Source): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number += 1) {
    const chunk = await store.read.find(selectChunk, { uploadId, number })
    if (chunk === undefined) return
    if (number === 0 && ARCHIVE.equals(chunk.bytes.subarray(0, ARCHIVE.length))) {
      const ways = 'unpack the archive, or save the workbook as CSV.'
      throw new FinalFailure(`The file is a ZIP archive or a workbook, and no CSV file: ${ways}`)
    }
    yield chunk.bytes
    await setImmediate()
  }
}

function openReader(text: string, { mapping }: Source): ReaderState {
  const isNameOfAddress = (header: string) => isAddressHeader(header, mapping)
  const { delimiter, skippedLines } = detectDelimiter(text, isNameOfAddress)
  return { parser: createCsvParser({ delimiter, ...RECORD_LIMITS }), skippedLines, rows: 0 }
}

/** Returns undefined until the header is complete. */
function toBatch(
  state: ReaderState,
  { records, piece: { bytesRead, encoding }, source }: NextRecords,
): RowBatch | undefined {
  const rows: FileRow[] = []
  for (const each of records) {
    if (each.line <= state.skippedLines || isBlankRecord(each)) continue
    const { record, damage } = repair(each, encoding)
    state.rows += 1
    if (state.header !== undefined) rows.push({ number: state.rows, record, ...damage })
    else state.header = { ...readHeader(record, source), ...damage }
  }
  const { header } = state
  return header && { header, rows, bytesRead, encoding }
}

function repair(record: CsvRecord, { name }: Encoding): Repaired {
  if (name === 'utf-8') {
    const { record: repaired, damage } = repairRecord(record)
    return { record: repaired, damage: damage === undefined ? {} : { damage } }
  }
  const damage = findReplaced(record)
  return { record, damage: damage === undefined ? {} : { damage } }
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
