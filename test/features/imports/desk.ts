/** Files handed in and imported without HTTP and without a job loop. */

import { type ImportResult, importContacts } from '../../../src/features/imports/import-contacts.ts'
import {
  createImportFile,
  type ImportKind,
  type ImportOptions,
} from '../../../src/features/imports/import-file.ts'
import { completeJob } from '../../../src/jobs/ledger.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { importChunks } from '../../../src/store/schema/jobs.ts'
import { type ClaimedJob, claimJob } from '../../jobs/running.ts'
import type { World } from '../world.ts'

export type Given = Partial<ImportOptions> & { kind?: ImportKind; projectId: string }

const PIECE_BYTES = 64 * 1024

/** The job's id. */
export async function handIn(world: World, file: string | Uint8Array, given: Given) {
  const { kind = 'import', projectId, ...options } = given
  const upload = createImportFile(world, { projectId, kind })
  const bytes = Buffer.from(file)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await upload.write(bytes.subarray(at, at + PIECE_BYTES))
  }
  const all = { filename: 'people.csv', mapping: [], areStrings: false, subscribed: true }
  return upload.finish({ ...all, ...options })
}

/** Hands in, claims, runs and completes. */
export async function importFile(
  world: World,
  file: string | Uint8Array,
  given: Given,
): Promise<ImportResult> {
  await handIn(world, file, given)
  const job = await claim(world)
  const result = await importContacts(world, job)
  await world.store.write((tx) => completeJob(tx, job, { result, now: world.now() }))
  return result
}

export function claim(world: World, kind: ImportKind = 'import'): Promise<ClaimedJob> {
  return claimJob(world, kind)
}

/** By address: whether subscribed, and the data. */
export async function listPeople({ store }: World, projectId: string) {
  const rows = await store.read
    .select()
    .from(contacts)
    .where(sql`${contacts.projectId} = ${projectId}`)
    .orderBy(contacts.number)
    .all()
  return rows.map(({ email, subscribed, data }) => ({ email, subscribed, data }))
}

export function countChunks({ store }: World): Promise<number> {
  return store.read.$count(importChunks)
}
