/** Segments of a project, defined by a condition or by hand, and their contacts. */
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { type Condition, listFilters } from '../../features/ground/conditions/condition.ts'
import { findUnknownFields } from '../../features/ground/conditions/unknown-fields.ts'
import { withEnd } from '../../features/ground/listing.ts'
import { checkSegment } from '../../features/people/segments/check.ts'
import { computeSegment } from '../../features/people/segments/compute.ts'
import { addMembers, deleteMembers } from '../../features/people/segments/edit-members.ts'
import {
  createSegment,
  deleteSegment,
  updateSegment,
} from '../../features/people/segments/edit-segment.ts'
import {
  listSegmentContacts,
  refreshSegment,
} from '../../features/people/segments/segment-contacts.ts'
import { listSegments, loadSegmentRecord } from '../../features/people/segments/segments.ts'
import { conditionExample } from '../../records/condition.ts'
import { contactExample } from '../../records/contact.ts'
import { findings } from '../../records/findings.ts'
import { numbersOf } from '../../records/page.ts'
import {
  addedMembers,
  computedMembers,
  memberAddresses,
  memberPage,
  memberQuery,
  newMembers,
  newSegment,
  type SegmentRecord,
  segmentChanges,
  segmentExample,
  segmentRecord,
} from '../../records/segment.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../exchange/large-json.ts'
import { arrayResponse, LIST_ANSWER_BYTES, wholeResponse } from '../exchange/list-response.ts'
import { json, noContent } from '../response.ts'
import { type ProjectCall, projectOperation, type RouteDeps, rowKeyOf } from '../route.ts'

/** The names of the condition in other services. */
const names = {
  aliases: {
    filter: 'condition',
    filters: 'condition',
    conditions: 'condition',
    rules: 'condition',
  },
}

const shared = {
  tag: 'Segments',
  tagText: 'Groups of contacts, selected by a condition or by hand.',
} as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List all segments, newest first',
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'All segments', schema: z.array(segmentRecord) } },
    example: () => ({ status: 200, response: [segmentExample] }),
    handle: async (call) =>
      arrayResponse(call, await listSegments(core, { projectId: call.project.id })),
  })

export const create = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Create a segment',
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'A DYNAMIC segment needs a condition, a STATIC segment has none.',
    names,
    body: newSegment,
    responses: { 201: { description: 'Created, with its members counted', schema: segmentRecord } },
    example: () => ({
      request: {
        name: 'Pro customers',
        type: 'DYNAMIC',
        condition: conditionExample,
        trackMembership: true,
      },
      status: 201,
      response: segmentExample,
    }),
    handle: async (call) => {
      const { project, body } = call
      const made = await createSegment(core, { projectId: project.id, ...toInput(body) })
      if (body.condition !== undefined) await warnOfFields(core, call, made)
      return largeJson(201, made)
    },
  })

export const get = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show a segment',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'The segment', schema: segmentRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000017' },
      status: 200,
      response: segmentExample,
    }),
    handle: async (call) => largeJson(200, await loadSegmentRecord(core, rowKeyOf(call))),
  })

export const update = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Change a segment',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'The type cannot change, and a condition for a STATIC segment is ignored. The members of a ' +
      'new condition are counted at once; contacts enter and leave a tracked segment at the next ' +
      'computation.',
    names,
    body: segmentChanges,
    responses: { 200: { description: 'The segment after the change', schema: segmentRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000017' },
      request: { description: 'Who pays' },
      status: 200,
      response: { ...segmentExample, description: 'Who pays' },
    }),
    handle: async (call) => {
      const changes = toInput(call.body)
      const changed = await updateSegment(core, { ...rowKeyOf(call), changes })
      if (call.body.condition !== undefined) await warnOfFields(core, call, changed)
      return largeJson(200, changed)
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a segment that nothing uses',
    responses: { 204: { description: 'Deleted' } },
    refusals: [404, 409],
    example: () => ({ params: { id: '0199a7c0-0000-7000-8000-000000000017' }, status: 204 }),
    handle: async (call) => {
      await deleteSegment(core, rowKeyOf(call))
      return noContent()
    },
  })

export const listContacts = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the contacts of a segment',
    description:
      'A STATIC segment lists contacts by the time they entered, a DYNAMIC segment by the time they were created.',
    query: memberQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page, newest first', schema: memberPage } },
    refusals: [400, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000017' },
      query: { page: '1', pageSize: '20' },
      status: 200,
      response: { data: [contactExample], total: 1, page: 1, pageSize: 20, totalPages: 1 },
    }),
    handle: async (call) => {
      const wanted = { ...rowKeyOf(call), ...call.query }
      const { listing, total } = await listSegmentContacts(core, wanted)
      const numbered = withEnd(listing, () => numbersOf({ ...call.query, total }))
      return wholeResponse(call, { name: 'data', listing: numbered })
    },
  })

export const addContacts = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Add members to a STATIC segment',
    answerBytes: RECORD_ANSWER_BYTES,
    body: newMembers,
    responses: { 200: { description: 'The numbers of contacts', schema: addedMembers } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000018' },
      request: {
        emails: ['ann@example.org', 'cy@example.org'],
        createMissing: true,
        subscribed: false,
      },
      status: 200,
      response: { added: 2, created: 1, notFound: [] },
    }),
    handle: async (call) =>
      largeJson(200, await addMembers(core, { ...rowKeyOf(call), ...call.body })),
  })

export const removeContacts = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Remove members from a STATIC segment',
    body: z.object({ emails: memberAddresses }),
    responses: {
      200: {
        description: 'The number of contacts that were members',
        schema: z.object({ removed: z.int() }),
      },
    },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000018' },
      request: { emails: ['cy@example.org'] },
      status: 200,
      response: { removed: 1 },
    }),
    handle: async (call) =>
      json(200, await deleteMembers(core, { ...rowKeyOf(call), ...call.body })),
  })

export const compute = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Compute a tracked segment',
    description:
      'Contacts enter and leave as the condition says, each with an event. The members of a STATIC ' +
      'segment are only counted. The server also computes segments itself every five minutes.',
    responses: {
      200: {
        description: 'The numbers of contacts that entered and left',
        schema: computedMembers,
      },
    },
    refusals: [400, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000017' },
      status: 200,
      response: { added: 1, removed: 0, total: 1 },
    }),
    handle: async (call) => json(200, await computeSegment(core, rowKeyOf(call))),
  })

export const refresh = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Count a segment again',
    description: 'Emits no events. The server also counts segments itself every five minutes.',
    responses: {
      200: { description: 'The count', schema: z.object({ memberCount: z.int() }) },
    },
    refusals: [400, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000017' },
      status: 200,
      response: { memberCount: 1 },
    }),
    handle: async (call) => json(200, await refreshSegment(core, rowKeyOf(call))),
  })

export const check = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    isRead: true,
    summary: 'Check the condition of a segment',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'Finds filters that have no answer for the values of some contacts, lists that are searched by ' +
      'element, and names of fields and events that nobody has. `error`: the condition cannot be read ' +
      'any more and selects nobody.',
    responses: { 200: { description: 'What to mend, errors first', schema: findings } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000017' },
      status: 200,
      response: { findings: [] },
    }),
    handle: async (call) => largeJson(200, await checkSegment(core, rowKeyOf(call))),
  })

/**
 * Warns of fields that no contact has. Contacts may get such a field later, so only names that are near an
 * existing field are named.
 */
async function warnOfFields(
  core: Core,
  { project, warn }: Pick<ProjectCall<unknown, unknown>, 'project' | 'warn'>,
  { condition }: Pick<SegmentRecord, 'condition'>,
): Promise<void> {
  if (condition === null) return
  const filters = listFilters(condition as Condition)
  for (const { name, effect, meant } of await findUnknownFields(core, project.id, filters)) {
    if (meant === undefined) continue
    const message = `No contact has ${name}, so its filter selects ${effect}; did you mean ${meant}?`
    warn({ field: 'condition', message, suggestion: meant })
  }
}

function toInput<Body extends { trackMembership?: boolean | undefined }>(body: Body) {
  const { trackMembership: hasMembershipEvents, ...rest } = body
  return { ...rest, hasMembershipEvents }
}
