/** The secret that signs the webhooks of a project's workflows. */
import {
  readSigningSecret,
  rotateSigningSecret,
} from '../../../features/outreach/webhooks/signing-secret.ts'
import { signingSecretRecord } from '../../../records/webhook-endpoint.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { shownTo } from './fields.ts'

const shared = { tag: 'Webhooks' } as const

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: "Show the secret that signs the requests of the project's workflows",
    responses: { 200: { description: 'The secret', schema: signingSecretRecord } },
    example: () => ({ status: 200, response: { secret: 'whsec_…', previousSecretUntil: null } }),
    handle: async ({ project, caller }) =>
      json(200, shownTo(caller, await readSigningSecret(core, project.id))),
  })

export const rotate = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Make a new secret for the requests of workflows',
    description: 'For 24 hours requests carry the signatures of both secrets.',
    responses: { 200: { description: 'The new secret', schema: signingSecretRecord } },
    example: () => ({
      status: 200,
      response: { secret: 'whsec_…', previousSecretUntil: '2026-11-23T09:30:00.000Z' },
    }),
    handle: async ({ project, caller }) =>
      json(200, shownTo(caller, await rotateSigningSecret(core, project.id))),
  })
