/** The status of an import, with the options of its request and without the file. */
import type { ImportData } from '../../../records/import.ts'
import { findJobStatus, type JobStatus } from '../../../work/jobs/status.ts'
import type { Base } from '../../ground/base.ts'
import type { ImportKind, ImportPayload } from './import-file.ts'

/** Finds an import. @throws AppError RESOURCE_NOT_FOUND, also for another project's */
export async function findImport(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, id, kind }: { projectId: string; id: string; kind: ImportKind },
): Promise<JobStatus & { data: ImportData }> {
  const status = await findJobStatus(deps, { projectId, id, kinds: [kind] })
  return { ...status, data: toData(status.data as ImportPayload) }
}

function toData(payload: ImportPayload): ImportData {
  const { filename, sizeBytes, areStrings, subscribed } = payload
  const { resubscribe = false, dryRun = false } = payload
  const types = areStrings ? 'strings' : 'values'
  const mapping = Object.fromEntries(payload.mapping)
  return { filename, sizeBytes, mapping, types, subscribed, resubscribe, dryRun }
}
