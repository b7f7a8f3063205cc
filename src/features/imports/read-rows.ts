/** An uploaded file as rows: read chunk by chunk, so that the event loop turns between any two. */
import { setImmediate as turn } from 'node:timers/promises'
import { FinalFailure } from '../../jobs/run.ts'
import { and, eq } from '../../store/drizzle.ts'
import { importChunks } from '../../store/schema/jobs.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'
import { detectDelimiter } from './csv/delimiter.ts'
import { decode, detectEncoding } from './csv/encoding.ts'
import {
  type Header,
  isBlankRecord,
  isEmailHeader,
  type Mapping,
  RECORD_LIMITS,
  readHeader,
} from './csv/header.ts'
import { type CsvParser, type CsvRecord, createCsvParser } from './csv/parser.ts'

/** The rows that end in one chunk; rows in which nothing stands are left out. */
export type RowBatch = {
  header: Header
  rows: FileRow[]
  /** Of the file, this part included. */
  bytesRead: number
}

/** `number`: the header is row 1, whatever lines it takes. */
export type FileRow = { number: number; record: CsvRecord }

type Deps = Pick<Base, 'store'>
type Source = { uploadId: string; mapping: Mapping }
type Reading = { parser: CsvParser; skippedLines: number; header?: Header; rows: number }

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

/** @throws FinalFailure for a file without a usable header */
export async function* readRows(deps: Deps, source: Source): AsyncGenerator<RowBatch> {
  const encoding = await detectEncoding(readChunks(deps, source))
  let reading: Reading | undefined
  let lastByte = 0
  for await (const { text, bytesRead } of decode(readChunks(deps, source), encoding)) {
    lastByte = bytesRead
    reading ??= begin(text, source)
    const part = toPart(reading, { records: reading.parser.push(text), bytesRead, source })
    if (part !== undefined) yield part
  }
  const records = reading?.parser.end() ?? []
  const part = reading && toPart(reading, { records, bytesRead: lastByte, source })
  if (part === undefined) throw new FinalFailure('The file is empty.')
  yield part
}

async function* readChunks({ store }: Deps, { uploadId }: Source): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number += 1) {
    const chunk = await store.read.find(selectChunk, { uploadId, number })
    if (chunk === undefined) return
    yield chunk.bytes
    await turn()
  }
}

function begin(text: string, { mapping }: Source): Reading {
  const isEmail = (header: string) => isEmailHeader(header, mapping)
  const { delimiter, skippedLines } = detectDelimiter(text, isEmail)
  return { parser: createCsvParser({ delimiter, ...RECORD_LIMITS }), skippedLines, rows: 0 }
}

type Found = { records: CsvRecord[]; bytesRead: number; source: Source }

/** Undefined until the header has come. */
function toPart(reading: Reading, { records, bytesRead, source }: Found): RowBatch | undefined {
  const rows: FileRow[] = []
  for (const record of records) {
    if (record.line <= reading.skippedLines || isBlankRecord(record)) continue
    reading.rows += 1
    if (reading.header === undefined) reading.header = readHeader(record, source.mapping)
    else rows.push({ number: reading.rows, record })
  }
  const { header } = reading
  return header && { header, rows, bytesRead }
}
