/** Sender domains of a project, with the DNS records that each needs. */
import { z } from 'zod'
import { notFound } from '../../base/errors.ts'
import { addDomain, deleteDomain, listDomains } from '../../features/mail/domains/domains.ts'
import { verifyDomain } from '../../features/mail/domains/verify.ts'
import { domainExample, domainRecord, domainVerification, newDomain } from '../../records/domain.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../exchange/large-json.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

const shared = {
  tag: 'Domains',
  tagText: 'Domains to send from, with the DNS records that they need.',
} as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: "List the project's domains, newest first",
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'All domains', schema: z.array(domainRecord) } },
    refusals: [404],
    example: () => ({
      params: { projectId: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: [domainExample],
    }),
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
    responses: { 201: { description: 'Added, not verified yet', schema: domainRecord } },
    refusals: [400, 403, 404],
    example: () => ({
      request: { domain: 'example.com' },
      status: 201,
      response: {
        ...domainExample,
        verified: false,
        status: 'Pending',
        records: domainExample.records.map((record) => ({
          ...record,
          state: 'unknown',
          found: [],
        })),
      },
    }),
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
    responses: { 200: { description: 'The result of the check', schema: domainVerification } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000002' },
      status: 200,
      response: {
        domain: domainExample.domain,
        tokens: domainExample.dkimTokens,
        status: 'Success',
        verified: true,
        records: domainExample.records,
      },
    }),
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
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000002' },
      status: 200,
      response: { success: true },
    }),
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
