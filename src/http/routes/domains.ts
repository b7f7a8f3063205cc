/** Sender domains of a project, with the DNS records that each needs. */

import { z } from 'zod'
import { notFound } from '../../base/errors.ts'
import { addDomain } from '../../features/mail/domains/add.ts'
import { deleteDomain } from '../../features/mail/domains/delete.ts'
import { listDomains } from '../../features/mail/domains/list.ts'
import { verifyDomain } from '../../features/mail/domains/verify.ts'
import { MAX_DOMAIN_LENGTH } from '../../formats/address/address.ts'
import { instant } from '../../records/fields.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../exchange/large-json.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

const newDomain = z.object({
  projectId: z
    .string()
    .optional()
    .meta({ description: "The id of the request's own project; may be absent" }),
  domain: z
    .string()
    .trim()
    .min(3)
    .max(MAX_DOMAIN_LENGTH)
    .meta({ description: 'A host name such as example.com' }),
})

const dnsRecord = z
  .object({
    purpose: z.string().meta({ examples: ['dkim', 'return-path', 'dmarc'] }),
    name: z.string(),
    type: z.string(),
    value: z.string(),
    required: z.boolean(),
    state: z
      .enum(['found', 'missing', 'different', 'unknown'])
      .meta({ description: 'The state of the record at the last check' }),
    found: z.array(z.string()).meta({ description: 'The values that the check found' }),
  })
  .meta({ id: 'DnsRecord' })

const status = z.enum(['Pending', 'Success', 'Failed', 'TemporaryFailure'])
const selectors = z.array(z.string()).meta({ description: 'DKIM selectors' })

const domain = z
  .object({
    id: z.string(),
    domain: z.string(),
    verified: z.boolean(),
    trusted: z.boolean(),
    status,
    dkimTokens: selectors,
    records: z.array(dnsRecord),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Domain' })

const verification = z
  .object({
    domain: z.string(),
    tokens: selectors,
    status,
    verified: z.boolean(),
    records: z.array(dnsRecord),
  })
  .meta({ id: 'DomainVerification' })

const shared = { tag: 'Domains' } as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: "List the project's domains, newest first",
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'All domains', schema: z.array(domain) } },
    refusals: [404],
    handle: async ({ project, params }) => {
      refuseOthers(params.projectId, project.id)
      return largeJson(200, await listDomains(core, project.id))
    },
  })

export const add = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Add a domain',
    description:
      'The response has the DNS records to create. The domain gets new keys, which sign its emails.',
    body: newDomain,
    responses: { 201: { description: 'Added, not verified yet', schema: domain } },
    refusals: [400, 403, 404],
    handle: async ({ project, body }) => {
      refuseOthers(body.projectId ?? project.id, project.id)
      const input = { projectId: project.id, domain: body.domain }
      return json(201, await addDomain(core, input))
    },
  })

export const verify = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Check the DNS records of a domain now',
    responses: { 200: { description: 'The result of the check', schema: verification } },
    refusals: [404],
    handle: async ({ project, params }) => {
      const ids = { projectId: project.id, id: params.id ?? '' }
      const { domain, dkimTokens, status, verified, records } = await verifyDomain(core, ids)
      return json(200, { domain, tokens: dkimTokens, status, verified, records })
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a domain that nothing uses',
    responses: {
      200: { description: 'Deleted', schema: z.object({ success: z.literal(true) }) },
    },
    refusals: [404, 409],
    handle: async ({ project, params }) => {
      await deleteDomain(core, { projectId: project.id, id: params.id ?? '' })
      return json(200, { success: true })
    },
  })

/** Responds with 404 to any other project's id, whether the project exists or not. */
function refuseOthers(named: string | undefined, own: string): void {
  if (named?.toLowerCase() === own) return
  throw notFound('project', named ?? '', 'This request is not for the project with this id.')
}
