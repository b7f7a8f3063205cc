/** Uploads and imports files without HTTP and without a job loop. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { importContacts } from '../../../../src/features/people/import-export/import-contacts.ts'
import {
  createImportFile,
  type ImportKind,
  type ImportOptions,
} from '../../../../src/features/people/import-export/import-file.ts'
import type { ContactImportResult } from '../../../../src/records/import.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { importChunks } from '../../../../src/store/schema/jobs.ts'
import { completeJob } from '../../../../src/work/jobs/job-row.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'
import { type ClaimedJob, claimJob } from '../../../work/jobs/running.ts'
import { subscriptionEvents } from '../contacts/add-recipient.ts'

export type Given = Partial<ImportOptions> & { kind?: ImportKind; projectId: string }

const PIECE_BYTES = 64 * 1024

/** A project, and imports into it. */
export async function useImports(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const run = (file: string | Uint8Array, given: Partial<Given> = {}) =>
    importFile(core, file, { projectId, ...given })
  const people = () => listContacts(core, projectId)
  return {
    core,
    projectId,
    run,
    /** The dry run must have the same result. */
    runTwice: async (file: string, given: Partial<Given> = {}) => {
      const dry = await run(file, { ...given, dryRun: true })
      const result = await run(file, given)
      assert.deepEqual(result, dry)
      return result
    },
    people,
    subscribed: async () =>
      (await people()).filter(({ subscribed }) => subscribed).map(({ address }) => address),
  }
}

/** The turns of the event loop that other work gets. */
export async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let immediate = setImmediate(function count() {
    turns += 1
    immediate = setImmediate(count)
  })
  await work()
  clearImmediate(immediate)
  return turns
}

/** Uploads a file and returns the id of its job. */
export async function uploadFile(core: TestCore, file: string | Uint8Array, given: Given) {
  const { kind = 'import', projectId, ...options } = given
  const upload = createImportFile(core, { projectId, kind })
  const bytes = Buffer.from(file)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await upload.write(bytes.subarray(at, at + PIECE_BYTES))
  }
  const all = { filename: 'people.csv', mapping: [], areStrings: false, subscribed: true }
  return upload.finish({ ...all, ...options })
}

/** Uploads a file, and claims, runs and completes its job. */
export async function importFile(
  core: TestCore,
  file: string | Uint8Array,
  given: Given,
): Promise<ContactImportResult> {
  await uploadFile(core, file, given)
  const job = await claim(core)
  const result = await importContacts(core, job)
  await core.store.write((tx) => completeJob(tx, job, { result, now: core.now() }))
  return result
}

export function claim(core: TestCore, kind: ImportKind = 'import'): Promise<ClaimedJob> {
  return claimJob(core, kind)
}

/** By address: whether subscribed, and the data. */
export async function listContacts({ store }: TestCore, projectId: string) {
  const rows = await store.read
    .select()
    .from(contacts)
    .where(sql`${contacts.projectId} = ${projectId}`)
    .orderBy(contacts.number)
    .all()
  return rows.map(({ address, subscribed, data }) => ({ address, subscribed, data }))
}

export function countChunks({ store }: TestCore): Promise<number> {
  return store.read.$count(importChunks)
}

/** Returns the name and the data of each event about a subscription. */
export async function subscriptionChanges(core: TestCore) {
  const all = await subscriptionEvents(core)
  return all.map(({ name, data }) => [name, data])
}
