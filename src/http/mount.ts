/** Routes in one hono application, and what answers where there is none. */
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { AppError } from '../errors.ts'
import { answer, type Hall } from './exchange.ts'
import { preflightHeaders } from './response-headers.ts'
import { openRoute, type Route } from './route.ts'

export type Bindings = { Bindings: HttpBindings }

export function mount(hall: Hall, routes: readonly Route[]): Hono<Bindings> {
  const api = new Hono<Bindings>()
  for (const route of routes) {
    api.on(route.method, route.path, (context) => answer(hall, route, arrivalOf(context)))
  }
  api.options('/v1/*', (context) => answer(hall, preflight, arrivalOf(context)))
  api.notFound((context) => answer(hall, nowhere, arrivalOf(context)))
  return api
}

function arrivalOf(context: Context<Bindings>) {
  const { incoming } = context.env
  const { path } = context.req
  return { incoming, path, params: context.req.param(), query: context.req.query() }
}

const preflight = openRoute({
  method: 'GET',
  path: '/v1/*',
  permission: 'none',
  isHidden: true,
  tag: 'Service',
  summary: 'What a browser asks before it calls the public API',
  responses: { 200: { description: 'What is allowed' } },
  handle: () => ({ status: 200, body: '', headers: preflightHeaders }),
})

const nowhere = openRoute({
  method: 'GET',
  path: '*',
  permission: 'none',
  isHidden: true,
  tag: 'Service',
  summary: 'Where there is nothing',
  responses: {},
  handle: ({ path }) => {
    throw new AppError('RESOURCE_NOT_FOUND', 'There is nothing at this path for this method.', {
      details: { resource: 'path', id: path },
      suggestion: 'The paths of this API are listed at /docs.',
    })
  },
})
