/** Webhook endpoints: where a project's events are sent to. */
import { z } from 'zod'
import {
  createEndpoint,
  deleteEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../../features/outreach/webhooks/endpoints/edit-endpoint.ts'
import {
  listEndpoints,
  loadEndpointRecord,
} from '../../../features/outreach/webhooks/endpoints/endpoint.ts'
import { findWeakPatterns } from '../../../features/outreach/webhooks/event-patterns.ts'
import {
  endpointExample,
  endpointRecord,
  previousSecretUntil,
  signingSecret,
} from '../../../records/webhook-endpoint.ts'
import { warnOfSilentEvents } from '../../edit-warnings.ts'
import { json, noContent } from '../../response.ts'
import { projectOperation, type RawCall, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'
import { endpointChanges, newEndpoint, shownTo } from './fields.ts'

const shared = {
  tag: 'Webhooks',
  tagText: 'Events sent to the systems of the project, signed as Standard Webhooks has it.',
} as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List webhook endpoints, oldest first',
    responses: {
      200: {
        description: 'All endpoints of the project; there are at most 20',
        schema: z.object({ data: z.array(endpointRecord), total: z.int() }),
      },
    },
    example: () => ({ status: 200, response: { data: [endpointExample], total: 1 } }),
    handle: async ({ project }) => json(200, await listEndpoints(core, project.id)),
  })

export const create = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Create a webhook endpoint',
    description:
      'It gets the events from now on. Requests are signed as Standard Webhooks has it. A project has ' +
      'at most 20 endpoints.',
    body: newEndpoint,
    responses: {
      201: {
        description:
          'The endpoint with its secret, which is shown only here and after a rotation, and masked for ' +
          'members without the role ADMIN',
        schema: endpointRecord.extend({ secret: signingSecret }),
      },
    },
    refusals: [400],
    example: () => ({
      request: {
        url: 'https://shop.example.com/hooks',
        events: ['email.*', 'segment.*'],
        description: 'Tells the shop',
      },
      status: 201,
      response: { ...endpointExample, secret: 'whsec_…' },
    }),
    handle: async (call) => {
      const { project, caller, body } = call
      const made = await createEndpoint(core, { projectId: project.id, ...body })
      await warnOfEvents(core, call, body.events)
      return json(201, shownTo(caller, made))
    },
  })

export const get = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Get a webhook endpoint',
    responses: { 200: { description: 'The endpoint', schema: endpointRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000701' },
      status: 200,
      response: endpointExample,
    }),
    handle: async (call) => json(200, await loadEndpointRecord(core, uuidKeyOf(call))),
  })

export const update = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Change a webhook endpoint',
    description:
      'Disabling it fails the deliveries that wait, and no new ones are made. Enabling it sends nothing ' +
      'again: replay the time in between if its events are needed.',
    body: endpointChanges,
    responses: { 200: { description: 'The endpoint', schema: endpointRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000701' },
      request: { description: 'Tells the shop and the store' },
      status: 200,
      response: { ...endpointExample, description: 'Tells the shop and the store' },
    }),
    handle: async (call) => {
      const changed = await updateEndpoint(core, uuidKeyOf(call), call.body)
      await warnOfEvents(core, call, call.body.events ?? [])
      return json(200, changed)
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a webhook endpoint with its deliveries',
    responses: { 204: { description: 'Deleted' } },
    refusals: [404],
    example: () => ({ params: { id: '0199a7c0-0000-7000-8000-000000000701' }, status: 204 }),
    handle: async (call) => {
      await deleteEndpoint(core, uuidKeyOf(call))
      return noContent()
    },
  })

export const rotateSecret = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Give a webhook endpoint a new secret',
    description: 'For 24 hours requests carry the signatures of both secrets.',
    responses: {
      200: {
        description: 'The endpoint with its new secret',
        schema: endpointRecord.extend({ secret: signingSecret, previousSecretUntil }),
      },
    },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000701' },
      status: 200,
      response: {
        ...endpointExample,
        description: 'Tells the shop and the store',
        lastSuccessAt: '2026-11-22T09:30:00.000Z',
        secret: 'whsec_…',
        previousSecretUntil: '2026-11-23T09:30:00.000Z',
      },
    }),
    handle: async (call) =>
      json(200, shownTo(call.caller, await rotateEndpointSecret(core, uuidKeyOf(call)))),
  })

/** Warns of events that do not occur, or that have another name in deliveries. */
async function warnOfEvents(
  core: RouteDeps['core'],
  call: { project: { id: string }; warn: RawCall['warn'] },
  events: readonly string[],
): Promise<void> {
  const named = events.map((name, index) => ({ field: `events.${index}`, name }))
  await warnOfSilentEvents(core, call, named)
  const weak = await findWeakPatterns(core, call.project.id, events)
  for (const { field, name } of named) {
    const found = weak.get(name)
    if (found !== undefined) call.warn({ field, ...found })
  }
}
