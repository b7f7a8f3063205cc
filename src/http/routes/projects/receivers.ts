/** `GET /projects/:id/receivers`: who takes the waiting mail of a project, and how fast. */
import { listReceivers } from '../../../features/insight/receivers/receivers.ts'
import { MAX_COUNTED_WAITING } from '../../../features/mail/messages/queue/mail-of-project.ts'
import { receiverExample, receivers } from '../../../records/receiver.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'

export const listOfProject = ({ core }: RouteDeps) =>
  projectOperation({
    tag: 'Emails',
    tagText: 'Every email of the project: where it stands, and what its receivers said.',
    params: { id: 'The id of the project' },
    summary: 'List the receivers of waiting mail, those that slow it first',
    description:
      'At most 20 providers. What a receiver allows holds for the whole server, but counts and replies are ' +
      `of this project's mail. At most ${MAX_COUNTED_WAITING} waiting emails are counted.`,
    responses: { 200: { description: 'The receivers', schema: receivers } },
    refusals: [403, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: [receiverExample],
    }),
    handle: async ({ project }) => json(200, await listReceivers(core, project.id)),
  })
