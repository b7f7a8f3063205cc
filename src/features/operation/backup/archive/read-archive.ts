/**
 * Reads a backup as a stream and checks all of it: the compression, the structure of the tar, every name,
 * size and digest, and that each file of the manifest is there once. Nothing outside the manifest passes,
 * and never more bytes than it says.
 */
import { createHash } from 'node:crypto'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { extract as createExtract, type Header } from 'tar-stream'
import { AppError, describeError } from '../../../../base/errors.ts'
import {
  type ArchivedFile,
  type ArchiveEnd,
  archiveFault,
  type BackupManifest,
  checkPath,
  ENTRY,
  MAX_MANIFEST_BYTES,
  parseEnd,
  parseManifest,
} from './manifest.ts'
import { withoutTrailer } from './trailer.ts'

type ArchiveVisitor = {
  /** Called once with the manifest, before all files. */
  manifest?(manifest: BackupManifest): Promise<void> | void
  /**
   * Takes all bytes of a file. An error ends the reading. Only at the end of the archive is it
   * known whether the bytes are right.
   */
  file(file: ArchivedFile, chunks: AsyncIterable<Buffer>): Promise<void>
}

type ArchiveReading = {
  manifest: BackupManifest | undefined
  /** The files of the manifest that have not come yet, by path. */
  missing: Map<string, ArchivedFile>
  /** SHA-256 of the files that have come, by path. */
  digests: Map<string, string>
  end: ArchiveEnd | undefined
  visitor: ArchiveVisitor
  budget: Budget
}

/** How many bytes the archive may still unpack to. */
type Budget = { bytes: number }

const CHUNK_BYTES = 128 * 1024
/**
 * The most bytes of an entry besides its content: a header, its padding, and headers of extended
 * attributes.
 */
const ENTRY_OVERHEAD = 4096
const MAX_END_BYTES = MAX_MANIFEST_BYTES

/**
 * Returns the manifest and the paths of files that were deleted while the backup was made.
 * @throws AppError BAD_REQUEST that names the fault; errors of the visitor and of the source
 */
export async function readArchive(
  source: AsyncIterable<Buffer>,
  visitor: ArchiveVisitor,
): Promise<{ manifest: BackupManifest; deleted: string[] }> {
  const extract = createExtract()
  const budget = { bytes: MAX_MANIFEST_BYTES + ENTRY_OVERHEAD }
  const reading: ArchiveReading = {
    digests: new Map(),
    manifest: undefined,
    missing: new Map(),
    end: undefined,
    visitor,
    budget,
  }
  const faults: unknown[] = []
  const note = (error: unknown) => {
    faults.push(error)
    extract.destroy(error instanceof Error ? error : new Error(String(error)))
  }
  const piping = pipeline(
    Readable.from(withoutTrailer(named(source)), { objectMode: false, highWaterMark: CHUNK_BYTES }),
    createZstdDecompress({ chunkSize: CHUNK_BYTES }),
    bounded(budget),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await writeTo(extract, chunk)
      extract.end(undefined)
    },
  ).catch(note)
  const taking = takeEntries(extract, reading).catch(note)
  await Promise.all([taking, piping])
  if (faults.length > 0) throw explain(faults[0])
  return finish(reading)
}

type Extract = ReturnType<typeof createExtract>

function writeTo(extract: Extract, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (extract.destroyed) return reject(new Error('the archive ended early'))
    if (extract.write(chunk)) return resolve()
    const done = () => {
      extract.off('drain', done)
      extract.off('close', done)
      resolve()
    }
    extract.on('drain', done)
    extract.on('close', done)
  })
}

async function takeEntries(extract: Extract, reading: ArchiveReading): Promise<void> {
  for await (const entry of extract) await takeEntry(entry, reading)
}

type ArchiveEntry = AsyncIterable<unknown> & { header: Header }

async function takeEntry(entry: ArchiveEntry, reading: ArchiveReading): Promise<void> {
  const { name, type, size = 0 } = entry.header
  if (type !== 'file' && type !== 'contiguous-file') {
    const shown = JSON.stringify(name.slice(0, 255))
    throw archiveFault(`The archive has ${shown}, which is no regular file but a ${type}.`)
  }
  if (reading.end !== undefined) throw archiveFault(`The archive goes on after ${ENTRY.end}.`)
  const chunks = entry as AsyncIterable<Buffer>
  if (reading.manifest === undefined) return takeManifest(name, size, chunks, reading)
  if (name === ENTRY.end) {
    reading.end = parseEnd(await readAll(chunks, size, MAX_END_BYTES))
    return
  }
  return takeFile(name, size, chunks, reading)
}

async function takeManifest(
  name: string,
  size: number,
  chunks: AsyncIterable<Buffer>,
  reading: ArchiveReading,
): Promise<void> {
  if (name !== ENTRY.manifest) throw archiveFault('The file is no backup of Pillarbox.')
  const manifest = parseManifest(await readAll(chunks, size, MAX_MANIFEST_BYTES))
  for (const file of manifest.files) {
    reading.missing.set(file.path, file)
    reading.budget.bytes += file.bytes + ENTRY_OVERHEAD
  }
  reading.manifest = manifest
  await reading.visitor.manifest?.(manifest)
}

async function takeFile(
  name: string,
  size: number,
  chunks: AsyncIterable<Buffer>,
  { missing, digests, visitor }: ArchiveReading,
): Promise<void> {
  checkPath(name)
  const file = missing.get(name)
  if (file === undefined) {
    throw archiveFault(`The archive has ${name}, which its manifest lacks, or has it twice.`)
  }
  missing.delete(name)
  if (size !== file.bytes) {
    throw archiveFault(`${name} has ${size} bytes; the manifest says ${file.bytes}.`)
  }
  const hash = createHash('sha256')
  await visitor.file(file, hashed(chunks, hash))
  digests.set(name, hash.digest('hex'))
}

async function* hashed(
  chunks: AsyncIterable<Buffer>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}

async function readAll(
  chunks: AsyncIterable<Buffer>,
  size: number,
  maxBytes: number,
): Promise<Buffer> {
  if (size > maxBytes) throw archiveFault('The manifest of the backup is too large.')
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

function finish({ manifest, missing, digests, end }: ArchiveReading) {
  if (manifest === undefined) throw archiveFault('The archive is empty.')
  if (end === undefined) throw archiveFault('The archive is cut off: its last entry is missing.')
  const { deleted } = end
  for (const path of deleted) if (path.startsWith(ENTRY.data)) missing.delete(path)
  const [absent] = missing.keys()
  if (absent !== undefined) throw archiveFault(`The archive lacks ${absent}.`)
  for (const [path, digest] of digests) {
    if (end.sha256[path] === digest) continue
    throw archiveFault(`${path} is damaged: its SHA-256 is not the one in ${ENTRY.end}.`)
  }
  return { manifest, deleted }
}

/** Passes the bytes on, and fails when they are more than the manifest allows. */
function bounded(budget: Budget): Transform {
  let bytes = 0
  return new Transform({
    highWaterMark: CHUNK_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes <= budget.bytes) done(null, chunk)
      else done(archiveFault('The archive unpacks to more bytes than its manifest says.'))
    },
  })
}

/** Marks errors of the source, so that they do not count as faults of the archive. */
async function* named(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* source
  } catch (error) {
    throw error instanceof AppError ? error : new SourceError(error)
  }
}

class SourceError extends Error {
  override readonly name = 'SourceError'
  constructor(cause: unknown) {
    super(describeError(cause), { cause })
  }
}

/** Errors of the decompressor and of the tar parser are faults of the archive; others stay. */
function explain(error: unknown): unknown {
  if (error instanceof SourceError) return error.cause
  if (error instanceof AppError || !(error instanceof Error)) return error
  if ('code' in error && String(error.code).startsWith('ZSTD_')) return damaged(error)
  if ('code' in error && error.code === 'Z_BUF_ERROR') return cutOff(error)
  if (/unexpected end of (data|file)/i.test(error.message)) return cutOff(error)
  if (/tar|header|checksum/i.test(error.message)) return damaged(error)
  return error
}

function damaged(error: Error): AppError {
  return archiveFault(
    `The file is damaged, or no backup of Pillarbox: ${describeError(error)}.`,
    error,
  )
}

function cutOff(error: Error): AppError {
  return archiveFault('The file is cut off: the archive ends early.', error)
}
