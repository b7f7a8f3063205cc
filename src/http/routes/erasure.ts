/** The reset and the deletion of a project. */
import { z } from 'zod'
import {
  deleteProject,
  findResetState,
  resetProject,
} from '../../features/operation/erasure/end-project.ts'
import { enveloped } from '../../records/envelope.ts'
import { resetExample, resetState } from '../../records/project-reset.ts'
import { json } from '../response.ts'
import { memberOperation, type RouteDeps } from '../route.ts'

const params = { id: 'The id of a project of yours' }

const accepted = z.object({ success: z.literal(true), message: z.string() })

export const reset = ({ core }: RouteDeps) =>
  memberOperation({
    tag: 'Projects',
    summary: 'Reset a project',
    description: `Deletes the contacts, emails, events, templates, segments, campaigns, workflows, webhook
endpoints and logged requests of the project, all mail that waits first. Domains, members, keys,
suppressions and uploads stay. A job does the work. Until it ends, the routes of the project's data answer
409 and submission answers 451. A second call meanwhile is refused (409), and so is the reset of the
project that sends this server's mail to users.`,
    params,
    growsDisk: false,
    responses: { 200: { description: 'The reset has begun', schema: accepted } },
    refusals: [409],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000e01' },
      status: 200,
      response: { success: true, message: 'The project is being reset.' },
    }),
    handle: async ({ project, user }) => {
      await resetProject(core, project.id, { actorId: user.id })
      return json(200, { success: true, message: 'The project is being reset.' })
    },
  })

export const showReset = ({ core }: RouteDeps) =>
  memberOperation({
    tag: 'Projects',
    summary: 'Show the last reset of a project',
    params,
    responses: {
      200: {
        description: 'Its state',
        schema: enveloped(resetState),
      },
    },
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: { success: true, data: resetExample },
    }),
    handle: async ({ project }) =>
      json(200, { success: true, data: await findResetState(core, project) }),
  })

export const remove = ({ core }: RouteDeps) =>
  memberOperation({
    tag: 'Projects',
    summary: 'Delete a project',
    description: `From the answer on, the project is gone for its members, its keys are dead, and other
projects may verify its domains. A job deletes its rows. A reset that is under way ends. The project that
sends this server's mail to users is not deleted (409).`,
    params,
    responses: { 200: { description: 'The project was deleted', schema: accepted } },
    refusals: [409],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000e01' },
      status: 200,
      response: { success: true, message: 'The project was deleted.' },
    }),
    handle: async ({ project, user }) => {
      await deleteProject(core, project.id, { actorId: user.id })
      return json(200, { success: true, message: 'The project was deleted.' })
    },
  })
