/**
 * Stores an uploaded image: cleaned, named by its content, durable before it is acknowledged. The same
 * image of the same project is stored once, with the file name of its first upload; the answer has the
 * file name of this one.
 */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError, notFound } from '../../../base/errors.ts'
import type { UploadRecord } from '../../../records/upload.ts'
import type { Statements } from '../../../store/database.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { type Upload, uploads } from '../../../store/schema/uploads.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { deleteImageFile, hasImageFile, writeImageFile } from './image-files.ts'
import { cleanImage } from './images/clean.ts'
import { toUploadRecord } from './project-images.ts'

type GivenImage = {
  projectId: string
  /** The name that the client gave the file. */
  filename: string
  bytes: Buffer
}

type Deps = Pick<Base, 'store' | 'config' | 'now' | 'log'>

/** The most characters of a file's name that are stored. */
const MAX_FILENAME_LENGTH = 255
/** The number of hexadecimal digits of an image's name: 128 bits. */
const DIGEST_LENGTH = 32
/** The bytes that are hashed at once; other work runs before the next ones. */
const HASH_BYTES = 1024 * 1024

const findUpload = statement((db) =>
  db
    .select()
    .from(uploads)
    .where(eq(uploads.name, parameter('name'))),
)

/**
 * Finds the bytes of the images of a project. `ownerBytes`: those of all projects of the owner,
 * this one included.
 */
const findUsedBytes = statement<{ usedBytes: number; ownerBytes: number }>(
  () => sql`select upload_bytes as "usedBytes", coalesce((select sum(each.upload_bytes)
      from memberships owner
      join memberships owned on owned.user_id = owner.user_id and owned.role = 'OWNER'
      join projects each on each.id = owned.project_id
      where owner.project_id = projects.id and owner.role = 'OWNER'), upload_bytes) as "ownerBytes"
    from projects where id = ${parameter('projectId')} and deleted_at is null`,
)

const insertUpload = statement((db) =>
  db.insert(uploads).values({
    name: parameter('name'),
    projectId: parameter('projectId'),
    file: parameter('file'),
    filename: parameter('filename'),
    contentType: parameter('contentType'),
    sizeBytes: parameter('sizeBytes'),
    width: parameter('width'),
    height: parameter('height'),
    createdAt: parameter('createdAt'),
  }),
)

const moveUpload = statement((db) =>
  db
    .update(uploads)
    .set({ file: sql`${parameter('file')}` })
    .where(eq(uploads.name, parameter('name'))),
)

/**
 * Resolves when the image is durable. An image that the project has is not stored again, unless its file
 * is missing, as after a restore of the database alone.
 * @throws AppError VALIDATION_ERROR for the field `image`; PAYLOAD_TOO_LARGE when the project's
 *   images would take more than `uploads.max_bytes_per_project`, or those of the owner's projects
 *   more than `uploads.max_bytes_per_owner`; INSUFFICIENT_STORAGE; DATABASE_ERROR
 */
export async function storeImage(deps: Deps, given: GivenImage): Promise<UploadRecord> {
  const { store, config, now } = deps
  const { contentType, extension, width, height, parts } = await cleanImage(given.bytes)
  const { projectId } = given
  const row = {
    ...{ projectId, filename: toFilename(given.filename, extension), contentType, width, height },
    name: `${await digestOf(projectId, parts.list())}.${extension}`,
    sizeBytes: parts.sizeBytes(),
  }
  const known = await findOrRefuse(config, store.read, row)
  if (known !== undefined && (await hasImageFile(config, known.file))) {
    return toUploadRecord(config, { ...known, filename: row.filename })
  }
  const file = await writeImageFile(config, parts.list())
  const stored = await insertOrFind(deps, { ...row, file, createdAt: now() }, known?.file)
  return toUploadRecord(config, { ...stored, filename: row.filename })
}

/**
 * Inserts the row of a new file, or finds the image if the project has it by now. `lost`: the
 * missing file of an existing row. If this throws, the new file stays for `deleteOrphanedFiles`,
 * because after a DATABASE_ERROR it may have a row.
 */
async function insertOrFind(
  { store, config, log }: Deps,
  row: Upload,
  lost: string | undefined,
): Promise<Upload> {
  const { name, file } = row
  const stored = await store.write(async (tx) => {
    const known = await findOrRefuse(config, tx, row)
    if (known === undefined) await tx.execute(insertUpload, row)
    if (known === undefined || known.file !== lost) return known ?? row
    await tx.execute(moveUpload, { name, file })
    return { ...known, file }
  })
  if (stored.file !== file) {
    await deleteImageFile(config, file).catch((error) =>
      log.warn({ error }, 'the file of an image could not be removed'),
    )
  }
  return stored
}

/**
 * Returns the image if the project has it.
 * @throws AppError PAYLOAD_TOO_LARGE when there is no space for it; RESOURCE_NOT_FOUND when the
 *   project is gone
 */
async function findOrRefuse(
  config: Deps['config'],
  reader: Pick<Statements, 'find'>,
  { projectId, name, sizeBytes }: Pick<Upload, 'projectId' | 'name' | 'sizeBytes'>,
): Promise<Upload | undefined> {
  const known = await reader.find(findUpload, { name })
  if (known !== undefined) return known
  const project = await reader.find(findUsedBytes, { projectId })
  if (project === undefined) throw notFound('project', projectId, 'The project was deleted.')
  const { maxBytesPerProject, maxBytesPerOwner } = config.uploads
  const limits = [
    {
      ...{ maxBytes: maxBytesPerProject, usedBytes: project.usedBytes },
      text: "The project's images take too much space (uploads.max_bytes_per_project).",
    },
    {
      ...{ maxBytes: maxBytesPerOwner, usedBytes: project.ownerBytes },
      text: "The images of the owner's projects take too much space (uploads.max_bytes_per_owner).",
    },
  ]
  const over = limits.find(
    ({ maxBytes, usedBytes }) => maxBytes > 0 && usedBytes + sizeBytes > maxBytes,
  )
  if (over !== undefined) throw tooMuch(over)
  return undefined
}

type SpaceLimit = { maxBytes: number; usedBytes: number; text: string }

function tooMuch({ text, ...details }: SpaceLimit): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', text, {
    details,
    suggestion: 'Delete images that no email needs.',
  })
}

async function digestOf(projectId: string, parts: readonly Buffer[]): Promise<string> {
  const hash = createHash('sha256').update(projectId)
  for (const part of parts) {
    for (let at = 0; at < part.length; at += HASH_BYTES) {
      hash.update(part.subarray(at, at + HASH_BYTES))
      if (part.length > HASH_BYTES) await setImmediate()
    }
  }
  return hash.digest('hex').slice(0, DIGEST_LENGTH)
}

/** Makes a stored name: without invisible characters and line ends, cut between characters. */
function toFilename(given: string, extension: string): string {
  const shown = given.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim()
  // Removes half a character that the cut may have left at the end.
  const name = shown.slice(0, MAX_FILENAME_LENGTH).replace(/\p{Cs}$/u, '')
  return /^\.{0,2}$/.test(name) ? `image.${extension}` : name
}
