/** The jobs of a project: their list, and the end of one before its time. */
import { cancelShownJob } from '../../features/ground/jobs/cancel.ts'
import { listJobs } from '../../features/ground/jobs/list.ts'
import { type JobRecord, jobExample, jobPage, jobQuery, jobRecord } from '../../records/job.ts'
import { LIST_ANSWER_BYTES, pageResponse } from '../exchange/list-response.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

const shared = {
  tag: 'Jobs',
  tagText: 'Work that goes on after its call was answered: imports, bulk changes, verifications.',
} as const

const deletion = jobExample.id.replace('unsubscribe', 'delete').replace(/6000$/, '8000')
const cancelled: JobRecord = {
  ...jobExample,
  ...{ id: deletion, kind: 'bulk-delete', label: 'Delete contacts', state: 'cancelled' },
  ...{ progress: 0, done: 0, total: null, startedAt: null },
  statusUrl: `/contacts/bulk/${deletion}`,
}

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the jobs that calls have queued',
    description:
      'First those that run, then those that wait, then those that ended in the last 24 hours, the newest first. ' +
      '`statusUrl` shows a job with its result.',
    query: jobQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: jobPage } },
    example: () => ({
      query: { limit: '1' },
      status: 200,
      response: { data: [jobExample], cursor: null, hasMore: false, total: 1 },
    }),
    handle: async (call) => {
      const { limit, cursor } = call.query
      const wanted = { projectId: call.project.id, limit, cursor }
      return pageResponse(call, { name: 'data', listing: await listJobs(core, wanted) })
    },
  })

export const cancel = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Cancel a job',
    description:
      'A job that waits ends at once. A running job stops after its step: until then it is `active` and ' +
      '`isCancelling`. What it has done stays, and the `result` at its `statusUrl` counts it. 409 for a job that ' +
      'has ended, with its state.',
    params: { id: 'The `jobId` of the response that queued it' },
    responses: { 200: { description: 'The job', schema: jobRecord } },
    refusals: [404, 409],
    example: () => ({
      params: { id: cancelled.id },
      status: 200,
      response: cancelled,
    }),
    handle: async ({ project, params }) =>
      json(200, await cancelShownJob(core, { projectId: project.id, id: params.id ?? '' })),
  })
