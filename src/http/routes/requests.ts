/** `GET /requests`: the log of the requests to a project's API. */
import { listRequests } from '../../features/ground/requests/list.ts'
import { requestPage, requestQuery } from '../../records/request.ts'
import { LIST_ANSWER_BYTES, pageResponse } from '../exchange/list-response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    tag: 'Requests',
    summary: 'List the requests to this project, newest first',
    description:
      'Requests with a key of the project, and of members who have logged in. A line appears about a second after its response, and is deleted after `retention.request_log_days`. A page of a rare combination of filters may be short although there are more: go on until `cursor` is null.',
    query: requestQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: requestPage } },
    handle: async (call) => {
      const { startDate: startAt, endDate: endAt, ...filters } = call.query
      const wanted = { ...filters, projectId: call.project.id, startAt, endAt }
      return pageResponse(call, { name: 'data', listing: await listRequests(core, wanted) })
    },
  })
