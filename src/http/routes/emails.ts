/**
 * The emails of a project: their list, where each stands, what its receivers said, and its octets.
 */
import type { z } from 'zod'
import { findEmailBytes } from '../../features/insight/activity/email-bytes.ts'
import {
  countEmailsByStatus,
  MAX_COUNTED_EMAILS,
  MAX_COUNTED_OF_RECEIVER,
} from '../../features/insight/emails/count-by-status.ts'
import { listEmails } from '../../features/insight/emails/list-emails.ts'
import {
  findRawBytes,
  readRawEmail,
  requireEmail,
  showEmail,
} from '../../features/insight/emails/show-email.ts'
import { cancelEmails, retryEmails } from '../../features/mail/messages/queue/operate.ts'
import { emailPage, emailRecord } from '../../records/email.ts'
import { emailCounts, emailCountsQuery, emailQuery } from '../../records/email-query.ts'
import { RENDERING_LIMITS } from '../../turns/rendering.ts'
import { RENDERED_ANSWER_BYTES } from '../exchange/large-json.ts'
import { LIST_ANSWER_BYTES, pageResponse, wholeResponse } from '../exchange/list-response.ts'
import { MAX_RESPONSE_WARNINGS } from '../exchange/warnings.ts'
import { type HttpResponse, json } from '../response.ts'
import { type ProjectCall, projectOperation, type RouteDeps } from '../route.ts'
import { toWarningTexts } from '../unknown-names.ts'
import { uuidKeyOf } from '../uuid-key.ts'
import * as examples from './email-examples.ts'

const shared = {
  tag: 'Emails',
  tagText: 'Every email of the project: where it stands, and what its receivers said.',
} as const

const PIECE_BYTES = 128 * 1024

/** The memory for the record of an email; most emails take less. */
const RECORD_BYTES = 1024 * 1024

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List emails, newest first, without their bodies',
    description:
      'A page of a rare combination of filters may be short although there are more: go on until ' +
      '`cursor` is null. The emails of a campaign are listed in the order of its contacts. A search ' +
      'for an address lists the emails of the contacts that have it, then emails to contacts that ' +
      'had it before.',
    query: emailQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: emailPage } },
    example: examples.list,
    handle: async (call) => {
      const { limit, cursor, total, ...given } = call.query
      const isCounted = total !== 'false'
      const wanted = { ...toFilter(call.project.id, given), limit, cursor, isCounted }
      return pageResponse(call, { name: 'data', listing: await listEmails(core, wanted) })
    },
  })

export const count = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Count emails by status',
    description:
      'With the filters of the list. Tests and received mail count too. If the filters have the server look at ' +
      `more than ${MAX_COUNTED_EMAILS} emails, or ${MAX_COUNTED_OF_RECEIVER} with \`receiver\`, or look for more than half a second, there are no counts: ` +
      '`tooMany` is true.',
    query: emailCountsQuery,
    responses: { 200: { description: 'The counts', schema: emailCounts } },
    example: examples.count,
    handle: async (call) =>
      json(200, await countEmailsByStatus(core, toFilter(call.project.id, call.query))),
  })

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show an email with its attempts, its events, and where it stands',
    answerBytes: RECORD_BYTES,
    answerLimits: RENDERING_LIMITS,
    responses: { 200: { description: 'The email', schema: emailRecord } },
    refusals: [404],
    example: examples.show,
    handle: async (call) => {
      await reserveRecord(core, call)
      return respond(core, call)
    },
  })

export const showRaw = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the octets of an email (RFC 5322)',
    answerBytes: RECORD_BYTES,
    answerLimits: RENDERING_LIMITS,
    description:
      'Sent mail is composed again and signed now. Received mail is what came in, except for the ' +
      'tokens of links that the server mailed to its users, which are zeros; 404 once ' +
      'retention has cleared it. Mail of the server to its users is shown to nobody (403).',
    responses: { 200: { description: 'The message', contentType: 'message/rfc822' } },
    refusals: [400, 403, 404],
    example: examples.showRaw,
    handle: async (call) => {
      const key = uuidKeyOf(call)
      await reserveFor(call, await findRawBytes(core, key))
      const octets = await readRawEmail(core, key)
      return {
        status: 200,
        body: piecesOf(octets),
        reservedBytes: octets.length,
        headers: {
          'content-type': 'message/rfc822',
          'content-disposition': `attachment; filename="${key.id}.eml"`,
        },
      }
    },
  })

export const cancel = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Cancel an email that waits',
    names: { isInAnswer: true },
    answerBytes: RECORD_BYTES,
    answerLimits: RENDERING_LIMITS,
    description: '409 for one that is being sent or has ended.',
    responses: { 200: { description: 'The email', schema: emailRecord } },
    refusals: [404, 409],
    example: examples.cancel,
    handle: async (call) => {
      const key = uuidKeyOf(call)
      await requireEmail(core, key)
      await reserveRecord(core, call)
      await cancelEmails(core, [key.id])
      return respond(core, call)
    },
  })

export const retry = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Try an email again now',
    names: { isInAnswer: true },
    answerBytes: RECORD_BYTES,
    answerLimits: RENDERING_LIMITS,
    description:
      'One that waits is due at once; one that failed is tried again with a new give-up time. 409 ' +
      'for one that was delivered, bounced or is being sent, and for one that would fail again: ' +
      'its contact has unsubscribed, its address is suppressed, its campaign was cancelled, its ' +
      'project is disabled, its sender domain is not verified, or its content was cleared; also for ' +
      'mail of the server to its users that has ended: its recipient asks for a new link. One that ' +
      'failed counts again for the limits of the project by the month, and is refused over one (402).',
    responses: { 200: { description: 'The email', schema: emailRecord } },
    refusals: [402, 404, 409],
    example: examples.retry,
    handle: async (call) => {
      const key = uuidKeyOf(call)
      await requireEmail(core, key)
      await reserveRecord(core, call)
      await retryEmails(core, [key.id])
      return respond(core, call)
    },
  })

/** Gives the filters of a query their names in `EmailFilter`. */
function toFilter(projectId: string, query: z.output<typeof emailCountsQuery>) {
  const { status: statuses, state: states, startDate: startAt, endDate: endAt, ...rest } = query
  return { ...rest, projectId, statuses, states, startAt, endAt }
}

async function respond(
  core: RouteDeps['core'],
  call: ProjectCall<unknown, unknown>,
): Promise<HttpResponse> {
  const { record, events: listing } = await showEmail(core, uuidKeyOf(call))
  const told = toWarningTexts(call.warnings.slice(0, MAX_RESPONSE_WARNINGS))
  const before = { ...record, warnings: [...told, ...record.warnings] }
  const response = await wholeResponse(call, { before, name: 'events', listing })
  return { ...response, hasWarnings: true }
}

/**
 * Reserves memory for the record before the call takes effect, so that a call refused for lack of
 * memory has changed nothing.
 */
async function reserveRecord(
  core: RouteDeps['core'],
  call: ProjectCall<unknown, unknown>,
): Promise<void> {
  const { id } = uuidKeyOf(call)
  const bytes = await findEmailBytes(core, [id])
  await call.reserve(Math.max(RENDERED_ANSWER_BYTES, 2 * (bytes.get(id) ?? 0)))
}

/**
 * Reserves memory for a text of so many bytes. The text is in memory twice: as it is read, and as
 * JSON or as a message.
 */
async function reserveFor(call: ProjectCall<unknown, unknown>, bytes: number): Promise<void> {
  if (2 * bytes > RECORD_BYTES) await call.reserve(2 * bytes)
}

/** Yields copies of the octets, because the octets may be in memory that threads share. */
async function* piecesOf(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += PIECE_BYTES) {
    yield Uint8Array.from(octets.subarray(at, at + PIECE_BYTES))
  }
}
