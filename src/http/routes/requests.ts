/** `GET /requests`: the log of the requests to a project's API. */
import { listRequests } from '../../features/ground/requests/list.ts'
import { requestPage, requestQuery } from '../../records/request.ts'
import { LIST_ANSWER_BYTES, pageResponse } from '../exchange/list-response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    tag: 'Requests',
    tagText: 'The log of the requests to the API.',
    summary: 'List the requests to this project, newest first',
    description:
      'Requests with a key of the project, and of members who have logged in. A line appears about a second after its response, and is deleted after `retention.request_log_days`. A page of a rare combination of filters may be short although there are more: go on until `cursor` is null.',
    query: requestQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: requestPage } },
    example: () => ({
      query: { status: '4xx', path: '/v1/', caller: 'secret' },
      status: 200,
      response: {
        data: [
          {
            id: '0199a7c0-0000-7000-8000-000000001201',
            method: 'POST',
            path: '/v1/send',
            statusCode: 422,
            duration: 3,
            projectId: '0199a7c0-0000-7000-8000-000000000001',
            userId: null,
            authType: 'apiKey',
            caller: 'secret',
            ip: '192.0.2.7',
            userAgent: 'shop/1.4',
            errorCode: 'VALIDATION_ERROR',
            errorMessage: 'from: required',
            requestSize: 142,
            responseSize: 512,
            warning: null,
            createdAt: '2026-11-22T09:30:00.000Z',
          },
        ],
        cursor: null,
        hasMore: false,
        total: 1,
      },
    }),
    handle: async (call) => {
      const { startDate: startAt, endDate: endAt, ...filters } = call.query
      const wanted = { ...filters, projectId: call.project.id, startAt, endAt }
      return pageResponse(call, { name: 'data', listing: await listRequests(core, wanted) })
    },
  })
