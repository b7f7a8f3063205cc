/** Reads an import file as rows, chunk by chunk; other work runs between two chunks. */
import { setImmediate } from 'node:timers/promises'
import { FinalFailure } from '../../jobs/run.ts'
import { and, eq } from '../../store/drizzle.ts'
import { importChunks } from '../../store/schema/jobs.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'
import { detectDelimiter } from './csv/delimiter.ts'
import { decode, detectEncoding } from './csv/encoding.ts'
import {
  type Header,
  isAddressHeader,
  isBlankRecord,
  type Mapping,
  RECORD_LIMITS,
  readHeader,
} from './csv/header.ts'
import { type CsvParser, type CsvRecord, createCsvParser } from './csv/parser.ts'

/** The rows that end in one chunk, without blank rows. */
type RowBatch = {
  header: Header
  rows: FileRow[]
  /** Bytes of the file up to the end of this batch. */
  bytesRead: number
}

/** `number`: the header is row 1, even if it takes several lines. */
export type FileRow = { number: number; record: CsvRecord }

type Deps = Pick<Base, 'store'>
type Source = { uploadId: string; mapping: Mapping }
type ReaderState = { parser: CsvParser; skippedLines: number; header?: Header; rows: number }

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

/** Yields the rows of a file. @throws FinalFailure for a file without a usable header */
export async function* readRows(deps: Deps, source: Source): AsyncGenerator<RowBatch> {
  const encoding = await detectEncoding(readChunks(deps, source))
  let state: ReaderState | undefined
  let lastByte = 0
  for await (const { text, bytesRead } of decode(readChunks(deps, source), encoding)) {
    lastByte = bytesRead
    state ??= openReader(text, source)
    const batch = toBatch(state, { records: state.parser.push(text), bytesRead, source })
    if (batch !== undefined) yield batch
  }
  const records = state?.parser.end() ?? []
  const batch = state && toBatch(state, { records, bytesRead: lastByte, source })
  if (batch === undefined) throw new FinalFailure('The file is empty.')
  yield batch
}

async function* readChunks({ store }: Deps, { uploadId }: Source): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number += 1) {
    const chunk = await store.read.find(selectChunk, { uploadId, number })
    if (chunk === undefined) return
    yield chunk.bytes
    await setImmediate()
  }
}

function openReader(text: string, { mapping }: Source): ReaderState {
  const isNameOfAddress = (header: string) => isAddressHeader(header, mapping)
  const { delimiter, skippedLines } = detectDelimiter(text, isNameOfAddress)
  return { parser: createCsvParser({ delimiter, ...RECORD_LIMITS }), skippedLines, rows: 0 }
}

type NextRecords = { records: CsvRecord[]; bytesRead: number; source: Source }

/** Returns undefined until the header is complete. */
function toBatch(
  state: ReaderState,
  { records, bytesRead, source }: NextRecords,
): RowBatch | undefined {
  const rows: FileRow[] = []
  for (const record of records) {
    if (record.line <= state.skippedLines || isBlankRecord(record)) continue
    state.rows += 1
    if (state.header === undefined) state.header = readHeader(record, source.mapping)
    else rows.push({ number: state.rows, record })
  }
  const { header } = state
  return header && { header, rows, bytesRead }
}
