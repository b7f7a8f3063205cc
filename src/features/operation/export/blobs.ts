/**
 * Writes attachments and received messages of a project as files: `attachments/<content
 * id>/<number>` for attachments that are too large for the record of their content, and
 * `received/<id>.eml`.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { sql } from '../../../store/drizzle.ts'
import type { StoredAttachment } from '../../../store/schema/json-values.ts'
import { chunks } from '../../../store/schema/messages.ts'
import type { RowReader } from '../../../store/snapshot/row-reader.ts'
import type { TableDuties } from '../../ground/manifest/table.ts'
import { shownOctets } from '../../incoming/receiving/raw.ts'
import { findExported } from './tables.ts'

type Context = {
  projectId: string
  folder: string
  reader: RowReader
  signal: AbortSignal
  tables: readonly TableDuties[]
}

/**
 * `withheld`: the ids of received messages without a file, because the search for links in them
 * failed.
 */
type WrittenBlobs = { files: number; withheld: string[] }

export async function writeBlobs(context: Context): Promise<WrittenBlobs> {
  const attachments = await writeAttachments(context)
  const { files, withheld } = await writeReceived(context)
  return { files: attachments + files, withheld }
}

async function writeAttachments(context: Context): Promise<number> {
  const { folder, signal } = context
  let written = 0
  for (const { id, attachments, chunkBytes } of rowsOf(context, 'contents')) {
    if (Number(chunkBytes) === 0 || !Array.isArray(attachments)) continue
    signal.throwIfAborted()
    const to = path.join(folder, 'attachments', String(id))
    await mkdir(to, { recursive: true, mode: 0o700 })
    let first = 0
    for (const [index, one] of (attachments as StoredAttachment[]).entries()) {
      const count = one.chunks ?? 0
      if (count === 0) continue
      await writeChunks(context, path.join(to, String(index)), { owner: String(id), first, count })
      first += count
      written += 1
    }
  }
  return written
}

async function writeReceived(context: Context): Promise<WrittenBlobs> {
  const { folder, signal } = context
  const to = path.join(folder, 'received')
  await mkdir(to, { mode: 0o700 })
  const written: WrittenBlobs = { files: 0, withheld: [] }
  for (const { id, raw, rawChunks } of rowsOf(context, 'received')) {
    if (!Buffer.isBuffer(raw)) continue
    signal.throwIfAborted()
    const count = Number(rawChunks)
    const octets = count > 0 ? joinChunks(context, { owner: String(id), first: 0, count }) : raw
    const shown = shownOctets(octets)
    if (shown === undefined) {
      written.withheld.push(String(id))
      continue
    }
    await writeFile(path.join(to, `${id}.eml`), (handle) => handle.writeFile(shown))
    written.files += 1
  }
  return written
}

type BlobRange = { owner: string; first: number; count: number }

function writeChunks(context: Context, file: string, range: BlobRange): Promise<void> {
  return writeFile(file, async (handle) => {
    for (const bytes of readChunks(context, range)) await handle.writeFile(bytes)
  })
}

/** Joins the chunks of a message, which has at most `inbound.max_message_bytes`. */
function joinChunks(context: Context, range: BlobRange): Buffer {
  return Buffer.concat([...readChunks(context, range)])
}

function* readChunks({ reader }: Context, { owner, first, count }: BlobRange): Generator<Buffer> {
  for (let number = first; number < first + count; number += 1) {
    const condition = sql`owner_id = ${owner} and number = ${number}`
    for (const { bytes } of reader.rows(chunks, condition)) yield bytes as Buffer
  }
}

async function writeFile(
  file: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await write(handle)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function rowsOf({ reader, projectId, tables }: Context, name: string) {
  const { table, condition } = findExported(tables, name)
  return reader.rows(table, condition(projectId))
}
