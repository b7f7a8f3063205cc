/** The projects of the user who has logged in: list, creation, settings and keys. */
import { z } from 'zod'
import {
  changeSettings,
  createOwnProject,
  createProjectLimit,
  listOwnProjects,
  regenerateOwnKeys,
} from '../../../features/tenancy/accounts/projects/own-projects.ts'
import {
  newProject,
  newProjectExample,
  projectExample,
  projectRecord,
  projectSettings,
  projectWithNewKeys,
} from '../../../records/project.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { memberOperation, type RouteDeps, userOperation } from '../../route.ts'

const shared = { tag: 'Projects' } as const

const LIMITS = 'PUT /users/@me/projects/:id/billing-limits'

/** Fields of a project that other calls change, each with its call. */
const WAYS = {
  ...Object.fromEntries(
    Object.keys(projectSettings.shape).map((field) => [field, 'PATCH /users/@me/projects/:id']),
  ),
  billingLimitWorkflows: LIMITS,
  billingLimitCampaigns: LIMITS,
  billingLimitTransactional: LIMITS,
  billingLimitInbound: LIMITS,
  role: 'PATCH /projects/:id/members/:userId',
  disabled: 'The operator of this server disables and enables projects',
}

export const list = ({ core }: RouteDeps) =>
  userOperation({
    ...shared,
    summary: 'List your projects, newest first',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'All projects', schema: z.array(projectRecord) } },
    refusals: [403],
    example: () => ({ status: 200, response: [newProjectExample, projectExample] }),
    handle: async ({ user }) => largeJson(200, await listOwnProjects(core, user.id)),
  })

export const create = ({ core }: RouteDeps) => {
  const limit = createProjectLimit(core.now)
  return userOperation({
    ...shared,
    summary: 'Create a project',
    description:
      'You own the project. The response has its secret key, which nothing shows again. Who owns a ' +
      'disabled project is refused. A user can create 5 projects an hour and own ' +
      '`accounts.max_projects_per_user` (400); operators are exempt.',
    names: { ways: WAYS },
    body: newProject,
    responses: { 201: { description: 'Created', schema: projectRecord } },
    refusals: [400],
    example: () => ({ request: { name: 'Letters' }, status: 201, response: newProjectExample }),
    handle: async ({ user, body }) =>
      json(201, await createOwnProject({ ...core, limit }, { user, name: body.name })),
  })
}

export const update = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Change the settings of a project',
    names: { ways: WAYS },
    body: projectSettings,
    responses: { 200: { description: 'The project', schema: projectRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      request: {
        ...{ name: 'Shop', tracking: 'MARKETING_ONLY', language: 'pt-BR' },
        postalAddress: 'Shop Ltd, 1 Main Street, Springfield',
      },
      status: 200,
      response: projectExample,
    }),
    handle: async ({ user, project, body }) =>
      json(200, await changeSettings(core, { projectId: project.id, userId: user.id }, body)),
  })

export const regenerateKeys = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Replace both keys of a project',
    description:
      'The old keys stop working at once. The response has the secret key, which nothing shows again.',
    // The call stores nothing new, and a leaked key must be replaced on a full disk too.
    growsDisk: false,
    responses: { 200: { description: 'The new keys', schema: projectWithNewKeys } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000a01' },
      status: 200,
      response: {
        id: '0199a7c0-0000-7000-8000-000000000a01',
        name: 'Letters',
        public: 'pk_…',
        secret: 'sk_…',
        createdAt: '2026-11-21T12:00:00.000Z',
        updatedAt: '2026-11-22T09:30:00.000Z',
        disabled: false,
        customer: null,
        subscription: null,
      },
    }),
    handle: async ({ user, project }) =>
      json(200, await regenerateOwnKeys(core, { projectId: project.id, userId: user.id })),
  })
