/** Responses of routes that show a job. Its parameters and its result may be as large as the request was. */
import type { Core } from '../../core/core.ts'
import { findJobBytes } from '../../features/ground/job-bytes.ts'
import type { HttpResponse } from '../response.ts'
import type { ProjectCall } from '../route.ts'
import { largeJson, RECORD_ANSWER_BYTES } from './large-json.ts'

/** `answerBytes` of the operations that show a job. */
export const JOB_ANSWER_BYTES = RECORD_ANSWER_BYTES

/** Waits for memory for the job of the path, and shows what `find` returns for it. */
export async function jobResponse(
  core: Core,
  call: ProjectCall<unknown, unknown>,
  find: (jobId: string) => Promise<unknown>,
): Promise<HttpResponse> {
  const { jobId = '' } = call.params
  const bytes = await findJobBytes(core, jobId)
  if (2 * bytes > JOB_ANSWER_BYTES) await call.reserve(2 * bytes)
  return largeJson(200, await find(jobId))
}
