/** The API described: `/openapi.json`, and `/docs` to read it and try it, with nothing from elsewhere. */
import { setImmediate as othersTurn } from 'node:timers/promises'
import { productVersion, readAsset } from '../../config/assets.ts'
import { notFound } from '../../errors.ts'
import type { Core } from '../../features/core.ts'
import { describeApi } from '../openapi.ts'
import { openRoute, type Reply, type Route } from '../route.ts'

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Pillarbox API</title>
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <script src="/docs/start.js"></script>
    <script src="/docs/swagger-ui-bundle.js" defer></script>
  </head>
  <body>
    <div id="api"></div>
  </body>
</html>
`

/**
 * The description comes while the page's program does. Calls go where the page came from: its policy
 * lets them go nowhere else, `base_url` or not. The scheme of colours is the reader's.
 */
const start = `const description = fetch('/openapi.json').then((response) => response.json())
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
addEventListener('DOMContentLoaded', async () => {
  const spec = { ...(await description), servers: [{ url: location.origin }] }
  const shown = { deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0 }
  SwaggerUIBundle({ spec, dom_id: '#api', ...shown })
})
`

const files: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

export function docsRoutes({ config }: Pick<Core, 'config'>, routes: readonly Route[]): Route[] {
  // One copy for all who ask: responses that wait for slow readers hold on to it.
  let description: Promise<Uint8Array<ArrayBuffer>> | undefined
  const assets = new Map<string, Uint8Array<ArrayBuffer>>()
  // One file in a turn of the event loop: the system copies megabytes of each at once.
  let lastTurn: Promise<void> = Promise.resolve()
  const inTurn = (): Promise<void> => {
    lastTurn = lastTurn.then(() => othersTurn())
    return lastTurn
  }
  const server = { url: config.baseUrl, version: productVersion() }
  const shared = {
    method: 'GET',
    permission: 'none',
    isHidden: true,
    tag: 'Service',
    responses: { 200: { description: 'A file' } },
  } as const

  return [
    openRoute({
      ...shared,
      path: '/openapi.json',
      summary: 'This API in the OpenAPI format',
      handle: async () => {
        description ??= describeApi(routes, server).then((text) => new TextEncoder().encode(text))
        return file(await description, 'application/json; charset=utf-8')
      },
    }),
    openRoute({ ...shared, path: '/', summary: 'The way in', handle: () => redirect('/docs') }),
    openRoute({ ...shared, path: '/docs', summary: 'This API to read', handle: () => showPage() }),
    openRoute({
      ...shared,
      path: '/docs/:file',
      summary: 'A part of the page',
      handle: async ({ params }) => {
        await inTurn()
        return showFile(assets, params.file ?? '')
      },
    }),
  ]
}

function showPage(): Reply {
  const { headers, ...reply } = file(page, 'text/html; charset=utf-8')
  return { ...reply, headers: { ...headers, 'content-security-policy': pagePolicy } }
}

/** @throws AppError RESOURCE_NOT_FOUND for any name but those above: no path is ever made of it */
function showFile(assets: Map<string, Uint8Array<ArrayBuffer>>, name: string): Reply {
  if (name === 'start.js') return file(start, 'text/javascript; charset=utf-8')
  const contentType = Object.hasOwn(files, name) ? files[name] : undefined
  if (contentType === undefined) throw notFound('file', name, 'There is no such file.')
  const bytes = assets.get(name) ?? new Uint8Array(readAsset(`docs/${name}`))
  assets.set(name, bytes)
  return file(bytes, contentType)
}

function file(body: Reply['body'], contentType: string): Reply {
  const headers = { 'content-type': contentType, 'cache-control': 'public, max-age=3600' }
  return { status: 200, body, headers }
}

function redirect(location: string): Reply {
  return { status: 302, body: '', headers: { location } }
}
