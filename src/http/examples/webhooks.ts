import { deliveryExample as delivery } from '../../records/webhook-delivery.ts'
import { endpointExample as endpoint } from '../../records/webhook-endpoint.ts'
import type { Examples } from './operation-example.ts'

const ENDPOINT = '0199a7c0-0000-7000-8000-000000000701'
const PROJECT = '0199a7c0-0000-7000-8000-000000000001'
const JOB = `replay-webhooks-${PROJECT}-1795339867000`

const secret = 'whsec_…'
const renamed = { ...endpoint, description: 'Tells the shop and the store' }
const tested = { ...renamed, lastSuccessAt: '2026-11-22T09:30:00.000Z' }

export const webhookExamples: Examples = {
  'POST /webhooks/endpoints': {
    request: {
      url: 'https://shop.example.com/hooks',
      events: ['email.*', 'segment.*'],
      description: 'Tells the shop',
    },
    status: 201,
    response: { ...endpoint, secret },
  },
  'GET /webhooks/endpoints': { status: 200, response: { data: [endpoint], total: 1 } },
  'GET /webhooks/endpoints/:id': {
    params: { id: ENDPOINT },
    status: 200,
    response: endpoint,
  },
  'PATCH /webhooks/endpoints/:id': {
    params: { id: ENDPOINT },
    request: { description: 'Tells the shop and the store' },
    status: 200,
    response: renamed,
  },
  'POST /webhooks/endpoints/:id/test': {
    params: { id: ENDPOINT },
    status: 200,
    response: delivery,
  },
  'GET /webhooks/endpoints/:id/deliveries': {
    params: { id: ENDPOINT },
    query: { status: 'SUCCEEDED' },
    status: 200,
    response: { data: [delivery], cursor: null, hasMore: false, total: 1 },
  },
  'POST /webhooks/endpoints/:id/deliveries/:deliveryId/replay': {
    params: { id: ENDPOINT, deliveryId: '0199a7c0-0000-7000-8000-000000000704' },
    status: 202,
    response: {
      ...delivery,
      ...{ id: '0199a7c0-0000-7000-8000-000000000704', event: 'email.open' },
      eventId: '0199a7c0-0000-7000-8000-000000000705',
      ...{ status: 'PENDING', attempts: 0, statusCode: null, durationMs: null },
      lastAttemptAt: null,
      nextAttemptAt: '2026-11-22T09:30:00.000Z',
      completedAt: null,
    },
  },
  'POST /webhooks/endpoints/:id/replay': {
    params: { id: ENDPOINT },
    request: { since: '2026-11-22T08:00:00.000Z', until: '2026-11-22T09:30:00.000Z' },
    status: 202,
    response: { message: 'The replay is queued.', jobId: JOB },
  },
  'GET /webhooks/endpoints/:id/replay/:jobId': {
    params: { id: ENDPOINT, jobId: JOB },
    status: 200,
    response: {
      id: JOB,
      state: 'completed',
      progress: 100,
      result: { created: 1 },
      data: {
        endpointId: ENDPOINT,
        since: '2026-11-22T08:00:00.000Z',
        until: '2026-11-22T09:30:00.000Z',
      },
      failedReason: null,
    },
  },
  'POST /webhooks/endpoints/:id/rotate-secret': {
    params: { id: ENDPOINT },
    status: 200,
    response: { ...tested, secret, previousSecretUntil: '2026-11-23T09:30:00.000Z' },
  },
  'DELETE /webhooks/endpoints/:id': { params: { id: ENDPOINT }, status: 204 },
  'GET /webhooks/signing-secret': {
    status: 200,
    response: { secret, previousSecretUntil: null },
  },
  'POST /webhooks/signing-secret/rotate': {
    status: 200,
    response: { secret, previousSecretUntil: '2026-11-23T09:30:00.000Z' },
  },
}
