/** The deliveries of webhook endpoints: their results, tests, and sending them again. */
import { z } from 'zod'
import { listDeliveries } from '../../../features/outreach/webhooks/deliveries/deliveries.ts'
import {
  replayDelivery,
  sendTestDelivery,
} from '../../../features/outreach/webhooks/deliveries/replay.ts'
import {
  findReplayStatus,
  startReplay,
} from '../../../features/outreach/webhooks/deliveries/replay-range.ts'
import { userIdOf } from '../../../features/tenancy/accounts/callers/caller.ts'
import { jobStatus, queuedJob } from '../../../records/job.ts'
import {
  deliveryExample,
  deliveryPage,
  deliveryQuery,
  deliveryRecord,
  replaySpan,
} from '../../../records/webhook-delivery.ts'
import { LIST_ANSWER_BYTES, pageResponse } from '../../exchange/list-response.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'

const replayStatus = jobStatus(
  z
    .object({ created: z.int() })
    .nullable()
    .meta({ description: 'The number of deliveries made, when completed' }),
  z.object({ endpointId: z.string(), since: z.string(), until: z.string() }),
)

const shared = { tag: 'Webhooks' } as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the deliveries of a webhook endpoint, newest first',
    description: 'Successes are kept for 7 days, failures for 30.',
    query: deliveryQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: deliveryPage } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000701' },
      query: { status: 'SUCCEEDED' },
      status: 200,
      response: { data: [deliveryExample], cursor: null, hasMore: false, total: 1 },
    }),
    handle: async (call) => {
      const listing = await listDeliveries(core, uuidKeyOf(call), call.query)
      return pageResponse(call, { name: 'data', listing })
    },
  })

export const test = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Send the event webhook.test to an endpoint now',
    description:
      'Also to a disabled endpoint. The response waits for the result, at most ten seconds.',
    responses: { 200: { description: 'The delivery with its result', schema: deliveryRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000701' },
      status: 200,
      response: deliveryExample,
    }),
    handle: async (call) => json(200, await sendTestDelivery(core, uuidKeyOf(call))),
  })

export const replay = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Send the event of a delivery again',
    description:
      'Under the same `webhook-id`. A delivery that waits is tried now; for one that has ended a new ' +
      'delivery is made.',
    params: { deliveryId: 'The id of a delivery of the endpoint' },
    responses: { 202: { description: 'The delivery that will be made', schema: deliveryRecord } },
    refusals: [400, 404],
    example: () => ({
      params: {
        id: '0199a7c0-0000-7000-8000-000000000701',
        deliveryId: '0199a7c0-0000-7000-8000-000000000704',
      },
      status: 202,
      response: {
        ...deliveryExample,
        ...{ id: '0199a7c0-0000-7000-8000-000000000704', event: 'email.open' },
        eventId: '0199a7c0-0000-7000-8000-000000000705',
        ...{ status: 'PENDING', attempts: 0, statusCode: null, durationMs: null },
        lastAttemptAt: null,
        nextAttemptAt: '2026-11-22T09:30:00.000Z',
        completedAt: null,
      },
    }),
    handle: async (call) =>
      json(202, await replayDelivery(core, uuidKeyOf(call), call.params.deliveryId ?? '')),
  })

export const replayRange = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Send the events of a span of time again',
    description: 'Those that the endpoint wants, in their order, each under the same `webhook-id`.',
    body: replaySpan,
    responses: { 202: { description: 'The job that makes the deliveries', schema: queuedJob } },
    refusals: [400, 404, 409],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000701' },
      request: { since: '2026-11-22T08:00:00.000Z', until: '2026-11-22T09:30:00.000Z' },
      status: 202,
      response: {
        message: 'The replay is queued.',
        jobId: 'replay-webhooks-0199a7c0-0000-7000-8000-000000000001-1795339867000',
      },
    }),
    handle: async (call) => {
      const asked = { ...call.body, userId: userIdOf(call.caller) }
      const jobId = await startReplay(core, uuidKeyOf(call), asked)
      return json(202, { message: 'The replay is queued.', jobId })
    },
  })

export const showReplay = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the state of a replay',
    params: { jobId: 'The `jobId` of the response that queued it' },
    responses: { 200: { description: 'The state', schema: replayStatus } },
    refusals: [404],
    example: () => ({
      params: {
        id: '0199a7c0-0000-7000-8000-000000000701',
        jobId: 'replay-webhooks-0199a7c0-0000-7000-8000-000000000001-1795339867000',
      },
      status: 200,
      response: {
        id: 'replay-webhooks-0199a7c0-0000-7000-8000-000000000001-1795339867000',
        state: 'completed',
        progress: 100,
        result: { created: 1 },
        data: {
          endpointId: '0199a7c0-0000-7000-8000-000000000701',
          since: '2026-11-22T08:00:00.000Z',
          until: '2026-11-22T09:30:00.000Z',
        },
        failedReason: null,
      },
    }),
    handle: async (call) =>
      json(200, await findReplayStatus(core, uuidKeyOf(call), call.params.jobId ?? '')),
  })
