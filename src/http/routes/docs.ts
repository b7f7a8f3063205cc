/**
 * The description of the API: `/openapi.json`, and `/docs` to read and try it. The page loads nothing from
 * other hosts.
 */
import { notFound } from '../../base/errors.ts'
import { readAsset } from '../../config/assets.ts'
import { productVersion } from '../../config/version.ts'
import { escapeHtml } from '../../formats/template/characters.ts'
import { type GuideList, listGuide } from '../guide/guide-pages.ts'
import { describeApi } from '../openapi.ts'
import type { HttpResponse } from '../response.ts'
import { openOperation, type RouteDeps } from '../route.ts'

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Makes the page. It begins with the list of all pages of the guide, by task. */
function makePage(list: GuideList): string {
  const lines = list.map(({ title, pages }) => {
    const links = pages.map(({ href, title }) => `<a href="${href}">${escapeHtml(title)}</a>`)
    return `      <p><strong>${escapeHtml(title)}</strong> ${links.join(' · ')}</p>`
  })
  return `<!doctype html>
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
    <nav aria-label="Guide">
${lines.join('\n')}
    </nav>
    <div id="api"></div>
  </body>
</html>
`
}

/**
 * Fetches the description while the bundle loads. Calls go to the origin of the page and not to
 * `base_url`, because the page's policy forbids all other origins. Colours follow the reader's system.
 */
const START_SCRIPT = `const description = fetch('/openapi.json').then((response) => response.json())
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

const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

const shared = {
  isHidden: true,
  tag: 'Service',
  responses: { 200: { description: 'A file' } },
} as const

/**
 * The memory that a response with a file reserves, so that it takes turns like other answers. The
 * files themselves take no memory, because all responses share them.
 */
const FILE_ANSWER_BYTES = 128 * 1024

export const showDescription = ({ core: { config }, listRoutes }: RouteDeps) => {
  const server = { url: config.baseUrl, version: productVersion() }
  // The octets of the description. All responses share them, because a response to a slow client
  // keeps them in memory.
  let description: Promise<Uint8Array<ArrayBuffer>> | undefined
  return openOperation({
    ...shared,
    summary: 'Describe this API in the OpenAPI format',
    answerBytes: FILE_ANSWER_BYTES,
    handle: async () => {
      description ??= describeApi(listRoutes(), server).then((text) =>
        new TextEncoder().encode(text),
      )
      return file(await description, 'application/json; charset=utf-8')
    },
  })
}

export const redirectToDocs = () =>
  openOperation({
    ...shared,
    summary: 'Redirect to the API documentation',
    handle: () => ({ status: 302, body: '', headers: { location: '/docs' } }),
  })

export const showPage = () => {
  let page: string | undefined
  return openOperation({
    ...shared,
    summary: 'Show the API documentation',
    handle: () => {
      page ??= makePage(listGuide())
      const { headers, ...response } = file(page, 'text/html; charset=utf-8')
      return { ...response, headers: { ...headers, 'content-security-policy': PAGE_POLICY } }
    },
  })
}

export const showFile = () => {
  const assets = new Map<string, Uint8Array<ArrayBuffer>>()
  return openOperation({
    ...shared,
    summary: 'Serve a file of the documentation page',
    answerBytes: FILE_ANSWER_BYTES,
    handle: ({ params }) => readFile(assets, params.file ?? ''),
  })
}

/** @throws AppError RESOURCE_NOT_FOUND for names not in the list: `name` never becomes a path */
function readFile(assets: Map<string, Uint8Array<ArrayBuffer>>, name: string): HttpResponse {
  if (name === 'start.js') return file(START_SCRIPT, 'text/javascript; charset=utf-8')
  const contentType = Object.hasOwn(FILES, name) ? FILES[name] : undefined
  if (contentType === undefined) throw notFound('file', name, 'There is no such file.')
  const bytes = assets.get(name) ?? new Uint8Array(readAsset(`docs/${name}`))
  assets.set(name, bytes)
  return file(bytes, contentType)
}

function file(body: HttpResponse['body'], contentType: string): HttpResponse {
  const headers = { 'content-type': contentType, 'cache-control': 'public, max-age=3600' }
  return { status: 200, body, headers, reservedBytes: 0 }
}
