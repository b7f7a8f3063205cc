/** Projects in short, and how far they are set up: for users and for the keys of the projects. */
import { z } from 'zod'
import {
  listProjectSummaries,
  loadProjectSummary,
  loadSetupState,
} from '../../../features/tenancy/accounts/projects/summary.ts'
import { enveloped } from '../../../records/envelope.ts'
import { projectSummary, projectSummaryExample, setupState } from '../../../records/project.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps, userOrKeyOperation } from '../../route.ts'

const shared = {
  tag: 'Projects',
  tagText: 'Projects, their keys, and what becomes of them.',
} as const

export const list = ({ core }: RouteDeps) =>
  userOrKeyOperation({
    ...shared,
    summary: "Show the key's project, or list yours",
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'With a key `data` is one project; with a session, a list of all of yours.',
    responses: {
      200: {
        description: 'The project or projects',
        schema: enveloped(z.union([projectSummary, z.array(projectSummary)])),
      },
    },
    refusals: [403],
    example: () => ({ status: 200, response: { success: true, data: projectSummaryExample } }),
    handle: async ({ caller }) => {
      const data =
        caller.kind === 'key'
          ? await loadProjectSummary(core, caller.project.id)
          : await listProjectSummaries(core, caller.user.id)
      return largeJson(200, { success: true, data })
    },
  })

export const get = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show a project in short',
    responses: { 200: { description: 'The project', schema: enveloped(projectSummary) } },
    refusals: [403, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: { success: true, data: projectSummaryExample },
    }),
    handle: async ({ project }) =>
      json(200, { success: true, data: await loadProjectSummary(core, project.id) }),
  })

export const showSetupState = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show how far a project is set up',
    responses: { 200: { description: 'The state', schema: enveloped(setupState) } },
    refusals: [403, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: {
        success: true,
        data: {
          hasSubscription: false,
          hasVerifiedDomain: true,
          contactCount: 3,
          hasContacts: true,
          lastCampaignSentAt: '2026-11-22T09:30:00.000Z',
          hasEnabledWorkflow: true,
          hasSentEmail: false,
          deliveryMode: 'direct',
        },
      },
    }),
    handle: async ({ project }) =>
      json(200, { success: true, data: await loadSetupState(core, project.id) }),
  })
