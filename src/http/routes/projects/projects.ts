/** Projects in short, and how far they are set up: for users and for the keys of the projects. */
import { z } from 'zod'
import {
  listProjectSummaries,
  loadProjectSummary,
  loadSetupState,
} from '../../../features/tenancy/accounts/projects/summary.ts'
import { enveloped } from '../../../records/envelope.ts'
import { projectSummary, setupState } from '../../../records/project.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps, userOrKeyOperation } from '../../route.ts'

const shared = { tag: 'Projects' } as const

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
    handle: async ({ project }) =>
      json(200, { success: true, data: await loadProjectSummary(core, project.id) }),
  })

export const showSetupState = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show how far a project is set up',
    responses: { 200: { description: 'The state', schema: enveloped(setupState) } },
    refusals: [403, 404],
    handle: async ({ project }) =>
      json(200, { success: true, data: await loadSetupState(core, project.id) }),
  })
