/** Verifies many addresses in a job whose state can be polled. No contact changes. */
import { z } from 'zod'
import {
  findListStatus,
  type ListSelection,
  MAX_VERIFIED_ADDRESSES,
  startListVerification,
} from '../../../features/people/verification/bulk/list-job.ts'
import { MAX_RESULTS } from '../../../features/people/verification/bulk/result.ts'
import { userIdOf } from '../../../features/tenancy/accounts/callers/caller.ts'
import { MAX_ADDRESS_TEXT_LENGTH } from '../../../formats/address/address.ts'
import { conditionField } from '../../../records/condition.ts'
import { id } from '../../../records/fields.ts'
import { jobStatus, queuedJob } from '../../../records/job.ts'
import {
  MAX_EXCLUDED_IDS,
  MAX_IDS_PER_REQUEST,
  MAX_SEARCH_LENGTH,
} from '../../../records/limits.ts'
import { addressText } from '../../../records/verification.ts'
import { JOB_ANSWER_BYTES, jobResponse } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'

/** The largest body: each address has quotes, a comma and indentation around it. */
const MAX_REQUEST_BYTES = MAX_VERIFIED_ADDRESSES * (MAX_ADDRESS_TEXT_LENGTH + 16)

const filter = z.strictObject({
  search: z.string().max(MAX_SEARCH_LENGTH).optional().meta({ description: 'Part of the address' }),
  subscribed: z.boolean().optional(),
  condition: conditionField.optional(),
})

const fields = {
  mode: z.enum(['emails', 'ids', 'query']).optional().meta({
    description: 'The field that selects the addresses; by default the field that the request has',
  }),
  emails: z.array(addressText).min(1).max(MAX_VERIFIED_ADDRESSES).optional(),
  contactIds: z.array(id).min(1).max(MAX_IDS_PER_REQUEST).optional(),
  filter: filter.optional().meta({ description: 'Selects contacts; {} selects all of them' }),
  excludeIds: z.array(id).max(MAX_EXCLUDED_IDS).optional().meta({
    description: 'With filter: contacts to leave out',
  }),
}

const FIELD_OF_MODE = { emails: 'emails', ids: 'contactIds', query: 'filter' } as const

const requestBody = z.strictObject(fields).transform((body, context): ListSelection<unknown> => {
  const refuse = (field: string, message: string) => {
    context.addIssue({ code: 'custom', path: [field], message })
    return z.NEVER
  }
  const { mode, emails, contactIds, filter, excludeIds } = body
  const given = Object.values(FIELD_OF_MODE).filter((field) => body[field] !== undefined)
  const [field] = given
  if (field === undefined || given.length > 1) {
    return refuse(
      mode === undefined ? 'emails' : FIELD_OF_MODE[mode],
      'Give one of emails, contactIds and filter',
    )
  }
  if (mode !== undefined && FIELD_OF_MODE[mode] !== field) {
    return refuse(field, `Not allowed with mode "${mode}"`)
  }
  if (excludeIds !== undefined && filter === undefined) {
    return refuse('excludeIds', 'Allowed with filter only')
  }
  if (emails !== undefined) return { mode: 'emails', emails }
  if (contactIds !== undefined) return { mode: 'ids', contactIds }
  return { mode: 'query', filter: filter ?? {}, excludeIds: excludeIds ?? [] }
})

const status = jobStatus(
  z.unknown().meta({
    description:
      'When completed: total = valid + invalid + unknown (name servers did not respond). The ' +
      'invalid ones are counted as malformed, domainMissing and noMx; further counts are ' +
      'disposable, alias, personal, typo, plusAddressed, and notFound (ids without a contact). ' +
      `For up to ${MAX_RESULTS} addresses, \`results\` has all of them; for more, it has the first ` +
      `${MAX_RESULTS} that are invalid, unknown, mistyped or disposable; \`resultsOmitted\` counts the ` +
      'rest. Each has email, contactId, state (valid, invalid, unknown), cause (malformed, ' +
      'domain-missing, no-mx or null), the flags of POST /v1/verify without hasWebsite, reasons ' +
      'and suggestedEmail.',
  }),
)

const shared = { tag: 'Contacts' } as const

export const start = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Verify many addresses',
    description:
      'Verifies the given addresses, the addresses of the given contacts, or those of all contacts ' +
      'that match when the job starts. Each is verified as in POST /v1/verify, and each domain is ' +
      'looked up once. No contact changes.',
    body: requestBody,
    maxBodyBytes: MAX_REQUEST_BYTES,
    responses: { 202: { description: 'Queued', schema: queuedJob } },
    refusals: [400, 409],
    example: () => ({
      request: { emails: ['ann@example.org', 'bob@example'] },
      status: 202,
      response: {
        message: 'The verification is queued.',
        jobId: 'verify-0199a7c0-0000-7000-8000-000000000001-1795339804000',
      },
    }),
    handle: async ({ project, caller, body }) => {
      const job = { projectId: project.id, userId: userIdOf(caller), selection: body }
      const jobId = await startListVerification(core, job)
      return json(202, { message: 'The verification is queued.', jobId })
    },
  })

export const showStatus = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the progress and the result of a verification',
    answerBytes: JOB_ANSWER_BYTES,
    responses: { 200: { description: 'The job', schema: status } },
    refusals: [404],
    example: () => ({
      params: { jobId: 'verify-0199a7c0-0000-7000-8000-000000000001-1795339804000' },
      status: 200,
      response: {
        id: 'verify-0199a7c0-0000-7000-8000-000000000001-1795339804000',
        state: 'completed',
        progress: 100,
        result: {
          total: 2,
          valid: 1,
          invalid: 1,
          unknown: 0,
          malformed: 1,
          domainMissing: 0,
          noMx: 0,
          disposable: 0,
          alias: 0,
          personal: 0,
          typo: 0,
          plusAddressed: 0,
          notFound: 0,
          results: [
            {
              email: 'ann@example.org',
              contactId: null,
              state: 'valid',
              cause: null,
              isDisposable: false,
              isAlias: false,
              isPersonalEmail: false,
              isTypo: false,
              isPlusAddressed: false,
              domainExists: true,
              hasMxRecords: true,
              reasons: ['The address is well formed and its domain accepts mail'],
            },
            {
              email: 'bob@example',
              contactId: null,
              state: 'invalid',
              cause: 'malformed',
              isDisposable: false,
              isAlias: false,
              isTypo: false,
              isPlusAddressed: false,
              isPersonalEmail: false,
              domainExists: false,
              hasMxRecords: false,
              reasons: ['This is not an email address'],
            },
          ],
          resultsOmitted: 0,
        },
        data: {
          projectId: '0199a7c0-0000-7000-8000-000000000001',
          mode: 'emails',
          emails: ['ann@example.org', 'bob@example'],
        },
        failedReason: null,
      },
    }),
    handle: (call) =>
      jobResponse(core, call, (jobId) =>
        findListStatus(core, { projectId: call.project.id, jobId }),
      ),
  })
