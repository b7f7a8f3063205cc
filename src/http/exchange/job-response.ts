/** Responses of routes that show a job. Its parameters and its result may be as large as the request was. */
import { findJobBytes, type JobStatus } from '../../jobs/status.ts'
import type { Store } from '../../store/store.ts'
import type { HttpResponse } from '../response.ts'
import type { ProjectCall } from '../route.ts'
import { largeJson, RECORD_ANSWER_BYTES } from './large-json.ts'

/** For the operation. */
export const JOB_ANSWER_BYTES = RECORD_ANSWER_BYTES

/** Waits for memory for the job of the path, and shows what `find` returns for it. */
export async function jobResponse(
  { store }: { store: Pick<Store, 'read'> },
  call: ProjectCall<unknown, unknown>,
  find: (jobId: string) => Promise<JobStatus>,
): Promise<HttpResponse> {
  const { jobId = '' } = call.params
  const bytes = await findJobBytes(store, jobId)
  if (2 * bytes > JOB_ANSWER_BYTES) await call.reserve(2 * bytes)
  return largeJson(200, await find(jobId))
}
