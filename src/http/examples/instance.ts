import { publicConfigExample } from '../../records/server.ts'
import type { Examples } from './operation-example.ts'

export const instanceExamples: Examples = {
  'GET /requests': {
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
  },
  'GET /config': {
    status: 200,
    response: publicConfigExample,
  },
}
