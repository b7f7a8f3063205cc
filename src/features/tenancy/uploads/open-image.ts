/**
 * Opens images for anyone who has their URL. A file is open only while a piece of it is read, and few
 * files are open at once: slow readers hold no files, and many readers do not take the threads that
 * make mail durable. The networks of readers take turns.
 */
import { type AppError, notFound } from '../../../base/errors.ts'
import { and, eq, isNull } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { uploads } from '../../../store/schema/uploads.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { createTurns } from '../../../turns/turns.ts'
import type { Base } from '../../ground/base.ts'
import { readImageFile } from './image-files.ts'
import { isImageName } from './image-name.ts'

type OpenImage = {
  contentType: string
  sizeBytes: number
  /**
   * Reads the first piece at once, so that a missing file is noticed before the response begins.
   * @throws AppError RESOURCE_NOT_FOUND; as `Turns.take` (`turns/turns.ts`)
   */
  read(): Promise<AsyncIterable<Uint8Array> | Uint8Array<ArrayBuffer>>
}

type ImageOpener = (name: string) => Promise<OpenImage>

type Deps = Pick<Base, 'store' | 'config' | 'log'>
type ImageRow = { name: string; file: string; contentType: string; sizeBytes: number }
type ReadPiece = (offset: number) => Promise<Uint8Array<ArrayBuffer>>

const PIECE_BYTES = 64 * 1024
const FILES_AT_ONCE = 2
/** Some mailbox providers load the images of all their users. */
const WAITING_OF_NETWORK = 500
const WAITING_READS = 1_000
const RETRY_AFTER_SECONDS = 2

/** The images of deleted projects are gone before their rows are. */
const findImage = statement((db) =>
  db
    .select({
      name: uploads.name,
      file: uploads.file,
      contentType: uploads.contentType,
      sizeBytes: uploads.sizeBytes,
    })
    .from(uploads)
    .innerJoin(projects, eq(projects.id, uploads.projectId))
    .where(and(eq(uploads.name, parameter('name')), isNull(projects.deletedAt))),
)

/** Returns a function that opens the image of a name. It throws AppError RESOURCE_NOT_FOUND. */
export function createImageOpener(deps: Deps): ImageOpener {
  const turns = createTurns({
    atOnce: FILES_AT_ONCE,
    waitingPerProject: WAITING_OF_NETWORK,
    waiting: WAITING_READS,
    to: 'for images',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

  function pieceReader({ name, file, sizeBytes }: ImageRow): ReadPiece {
    return async (offset) => {
      const maxBytes = Math.min(PIECE_BYTES, sizeBytes - offset)
      const read = () => readImageFile(deps.config, file, { offset, maxBytes })
      const bytes = await turns.take(read)
      if (bytes?.length === maxBytes) return bytes
      deps.log.warn({ name, file }, 'the file of an image is missing or too short')
      throw unknownImage(name)
    }
  }

  return async (name) => {
    const row = isImageName(name) ? await deps.store.read.find(findImage, { name }) : undefined
    if (row === undefined) throw unknownImage(name)
    const { contentType, sizeBytes } = row
    const readPiece = pieceReader(row)
    return {
      contentType,
      sizeBytes,
      async read() {
        const first = await readPiece(0)
        return sizeBytes > PIECE_BYTES ? piecesOf(first, readPiece, sizeBytes) : first
      },
    }
  }
}

async function* piecesOf(
  first: Uint8Array,
  readPiece: ReadPiece,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  yield first
  for (let at = first.length; at < sizeBytes; at += PIECE_BYTES) yield readPiece(at)
}

function unknownImage(name: string): AppError {
  return notFound('upload', name, 'There is no such image.')
}
