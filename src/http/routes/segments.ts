/** Segments of a project, defined by a condition or by hand, and their contacts. */

import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { type Condition, listFilters } from '../../features/ground/conditions/condition.ts'
import { findUnknownFields } from '../../features/ground/conditions/unknown-fields.ts'
import { withEnd } from '../../features/ground/listing.ts'
import { checkSegment } from '../../features/people/segments/check.ts'
import { computeSegment } from '../../features/people/segments/compute.ts'
import { refreshSegment } from '../../features/people/segments/count.ts'
import { createSegment } from '../../features/people/segments/create.ts'
import { deleteSegment } from '../../features/people/segments/delete.ts'
import { addMembers, removeMembers } from '../../features/people/segments/edit-members.ts'
import { getSegment } from '../../features/people/segments/get.ts'
import { listSegments } from '../../features/people/segments/list.ts'
import { listSegmentContacts } from '../../features/people/segments/list-contacts.ts'
import { updateSegment } from '../../features/people/segments/update.ts'
import type { SegmentView } from '../../features/people/segments/view.ts'
import { conditionField } from '../../records/condition.ts'
import { contactRecord } from '../../records/contact.ts'
import { instant, lineOfText } from '../../records/fields.ts'
import {
  DEFAULT_PAGE_SIZE,
  MAX_ADDRESSES_PER_REQUEST,
  MAX_DESCRIPTION_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PAGE_NUMBER,
  MAX_PAGE_SIZE,
} from '../../records/limits.ts'
import { countParameter, numbersOf, pageNumbers } from '../../records/page.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../exchange/large-json.ts'
import { arrayResponse, LIST_ANSWER_BYTES, wholeResponse } from '../exchange/list-response.ts'
import { json, noContent } from '../response.ts'
import { type ProjectCall, projectOperation, type RouteDeps, rowKeyOf } from '../route.ts'
import { findings } from '../shapes/findings.ts'

const type = z.enum(['DYNAMIC', 'STATIC'])

const fields = {
  name: lineOfText(MAX_NAME_LENGTH).min(1),
  description: z.string().max(MAX_DESCRIPTION_LENGTH).nullable(),
  type,
  condition: conditionField,
  trackMembership: z.boolean(),
}

const newSegment = z.object({
  ...fields,
  description: fields.description.default(null),
  type: type.default('DYNAMIC'),
  condition: conditionField.optional(),
  trackMembership: fields.trackMembership.default(false),
})

const changes = z.object(fields).partial()

const emails = z
  .array(z.string().meta({ format: 'email' }))
  .min(1)
  .max(MAX_ADDRESSES_PER_REQUEST)

const newMembers = z.object({
  emails,
  createMissing: z.boolean().default(false),
  subscribed: z.boolean().default(true).meta({ description: 'State of contacts that are created' }),
})

const pageQuery = z.object({
  page: countParameter({ fallback: 1, cap: MAX_PAGE_NUMBER }),
  pageSize: countParameter({ fallback: DEFAULT_PAGE_SIZE, cap: MAX_PAGE_SIZE }),
})

const segment = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    type,
    condition: z.unknown().meta({ description: 'Null in a STATIC segment' }),
    trackMembership: z.boolean(),
    memberCount: z
      .int()
      .meta({ description: 'In a DYNAMIC segment, the result of the last count' }),
    filterChange: z
      .object({
        at: instant,
        membersBefore: z.int(),
        membersAfter: z.int(),
        filters: z.array(z.object({ field: z.string(), operator: z.string() })),
      })
      .optional()
      .meta({
        description:
          'What new rules of filters changed in the members at an upgrade, without events; absent if nothing, and after a change of the condition',
      }),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Segment' })

const contactPage = z
  .object({
    data: z.array(contactRecord),
    total: z.int().meta({ description: 'At most five minutes old' }),
    ...pageNumbers,
  })
  .meta({ id: 'SegmentMemberPage' })

const added = z.object({
  added: z.int().meta({
    description: 'The number of contacts with these addresses, including earlier members',
  }),
  created: z.int(),
  notFound: z.array(z.string()).meta({ description: 'The addresses as given' }),
})

const computed = z.object({ added: z.int(), removed: z.int(), total: z.int() })

/** Other services call the condition so. */
const names = {
  aliases: {
    filter: 'condition',
    filters: 'condition',
    conditions: 'condition',
    rules: 'condition',
  },
}

const shared = { tag: 'Segments' } as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List all segments, newest first',
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'All segments', schema: z.array(segment) } },
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
    responses: { 201: { description: 'Created, with its members counted', schema: segment } },
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
    responses: { 200: { description: 'The segment', schema: segment } },
    refusals: [404],
    handle: async (call) => largeJson(200, await getSegment(core, rowKeyOf(call))),
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
    body: changes,
    responses: { 200: { description: 'The segment after the change', schema: segment } },
    refusals: [404],
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
    query: pageQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page, newest first', schema: contactPage } },
    refusals: [400, 404],
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
    responses: { 200: { description: 'The numbers of contacts', schema: added } },
    refusals: [404],
    handle: async (call) =>
      largeJson(200, await addMembers(core, { ...rowKeyOf(call), ...call.body })),
  })

export const removeContacts = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Remove members from a STATIC segment',
    body: z.object({ emails }),
    responses: {
      200: {
        description: 'The number of contacts that were members',
        schema: z.object({ removed: z.int() }),
      },
    },
    refusals: [404],
    handle: async (call) =>
      json(200, await removeMembers(core, { ...rowKeyOf(call), ...call.body })),
  })

export const compute = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Compute a tracked segment',
    description:
      'Contacts enter and leave as the condition says, each with an event. The members of a STATIC ' +
      'segment are only counted. The server also computes segments itself every five minutes.',
    responses: {
      200: { description: 'The numbers of contacts that entered and left', schema: computed },
    },
    refusals: [400, 404],
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
    handle: async (call) => largeJson(200, await checkSegment(core, rowKeyOf(call))),
  })

/** A field that no contact has may come later: only one that is near another is named. */
async function warnOfFields(
  core: Core,
  { project, warn }: Pick<ProjectCall<unknown, unknown>, 'project' | 'warn'>,
  { condition }: Pick<SegmentView, 'condition'>,
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
