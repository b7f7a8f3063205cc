/**
 * `<data_dir>/generation` keeps the number of the newest event and the generation of the database
 * outside of the database. When the database is brought back from a copy, and the file stays or
 * comes from a newer copy, the next start finds the database older than the file
 * (`recovery/notice-older.ts`).
 *
 * The file is replaced as a whole, and only with what is durable in the database, so after a power
 * cut it never knows more than the database.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { formatInstant } from '../../../base/clock.ts'
import { hasCode } from '../../../base/errors.ts'
import { replaceFile } from '../../../config/replace-file.ts'
import { selectLastNumber } from '../../../store/dialect.ts'
import { statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { findGeneration } from './rows.ts'

export type KnownGeneration = { generation: number; seq: number }

/** `unreadable`: the file exists, but its content is not valid. */
type ReadGeneration = KnownGeneration | 'missing' | 'unreadable'

const NAME = 'generation'

const count = z.int().min(0)
const shape = z.object({ generation: count, seq: count, at: z.string() })

const findLastEvent = statement<{ seq: number }>(() => selectLastNumber('events'))

export function generationFileOf({ dataDir }: { dataDir: string }): string {
  return path.join(dataDir, NAME)
}

/** Reads the generation of the database, and the number of its newest event. */
export async function findKnown(queries: Pick<Tx, 'find'>): Promise<KnownGeneration> {
  const generation = (await findGeneration(queries))?.number ?? 0
  return { generation, seq: (await queries.find(findLastEvent))?.seq ?? 0 }
}

/** Whether the database (`own`) knows less than the file (`known`). */
export function isOlder(own: KnownGeneration, known: KnownGeneration): boolean {
  return own.seq < known.seq || own.generation < known.generation
}

export async function readGeneration(file: string): Promise<ReadGeneration> {
  try {
    const { generation, seq } = shape.parse(JSON.parse(await readFile(file, 'utf8')))
    return { generation, seq }
  } catch (error) {
    return hasCode(error, 'ENOENT') ? 'missing' : 'unreadable'
  }
}

/**
 * Writes the generation of the database, and the number of its newest event, into the file.
 * @throws errors of the file system and the database
 */
export async function writeGeneration({
  store,
  config,
  now,
}: Pick<Base, 'store' | 'config' | 'now'>): Promise<void> {
  const known = await findKnown(store.read)
  const text = `${JSON.stringify({ ...known, at: formatInstant(now()) })}\n`
  await replaceFile(generationFileOf(config), text)
}
