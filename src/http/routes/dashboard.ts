/**
 * The dashboard at `/app`: pages and files that `scripts/dashboard.ts` builds. Every address below `/app` without
 * a file is the same page, whose script shows the screen of the address. The page names the scripts of that screen, and
 * the first calls of its script. It has no data, so a session is not looked up: its cookie says that there may be one.
 */
import { hash } from 'node:crypto'
import { notFound } from '../../base/errors.ts'
import type { Core } from '../../core/core.ts'
import {
  BASE,
  findFile,
  findManifest,
  findScreenFiles,
  LICENCES,
  PRELOADS,
  readDashboardPage,
} from '../dashboard/files.ts'
import { chooseCoding } from '../exchange/compression/compressed-routes.ts'
import { readCookie, sessionCookieName } from '../exchange/cookies.ts'
import { isKnownTag } from '../exchange/if-none-match.ts'
import { ownPath } from '../pages/own-path.ts'
import type { HttpResponse } from '../response.ts'
import { openOperation, type RawCall, type RouteDeps } from '../route.ts'

/** What the dashboard asks for at its start, of everybody and of those who have a session. */
const FIRST_CALLS = ['/config']
const SESSION_CALLS = ['/users/@me', '/users/@me/projects']

/** The memory that an answer with a file reserves while it is sent. */
const FILE_ANSWER_BYTES = 128 * 1024
const YEAR_SECONDS = 31_536_000

/** Shown by a server that was started without a build. */
const UNBUILT = 'The dashboard is not built. Run `npm run dashboard`, and load this page again.\n'

const APP_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types ProseMirrorClipboard',
].join('; ')

/** No feature of browsers that asks for a permission. */
const NO_PERMISSIONS = [
  ...['accelerometer', 'autoplay', 'camera', 'display-capture', 'encrypted-media', 'fullscreen'],
  ...['geolocation', 'gyroscope', 'magnetometer', 'microphone', 'midi', 'payment'],
  ...[
    'picture-in-picture',
    'publickey-credentials-get',
    'screen-wake-lock',
    'usb',
    'xr-spatial-tracking',
  ],
]
  .map((feature) => `${feature}=()`)
  .join(', ')

const shared = {
  isHidden: true,
  tag: 'Pages',
  responses: { 200: { description: 'A page or a file' } },
} as const

type Incoming = RawCall['incoming']

export const showApp = ({ core }: RouteDeps) =>
  openOperation({
    ...shared,
    summary: 'Show the dashboard',
    handle: ({ incoming, params: { page: address = '' } }) => {
      if (findManifest() === undefined) return unbuilt()
      const hasSession = readCookie(incoming, sessionCookieName(core.config)) !== undefined
      return page(incoming, withBase(core, appPage(address, hasSession)), {
        'content-security-policy': APP_POLICY,
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': NO_PERMISSIONS,
      })
    },
  })

export const showAsset = () =>
  openOperation({
    ...shared,
    summary: 'Serve a file of the dashboard',
    answerBytes: FILE_ANSWER_BYTES,
    handle: ({ params: { file: name = '' }, incoming }) => {
      const coding = chooseCoding(incoming.headers['accept-encoding'])
      const file = findFile(name, coding)
      if (file === undefined) throw notFound('file', name, 'There is no such file.')
      const shown = {
        'content-type': file.contentType,
        'cross-origin-resource-policy': 'same-origin',
      }
      if (name === LICENCES) return revalidated(incoming, file.bytes, shown)
      const headers = {
        ...shown,
        'content-length': String(file.bytes.byteLength),
        'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
        vary: 'Accept-Encoding',
        ...(coding !== undefined && file.isCoded && { 'content-encoding': coding }),
      }
      return { status: 200, body: file.bytes, headers }
    },
  })

/** A mail in the frame loads nothing: its images are part of it, or are not shown. */
export const showFrame = () => frameOperation('img-src data:')

/** The reader has asked for the images, so their hosts learn that somebody reads the mail. */
export const showFrameWithImages = () => frameOperation("img-src data: https: 'self'")

function frameOperation(images: string) {
  return openOperation({
    ...shared,
    summary: 'Show the frame of one mail',
    handle: ({ incoming }) => {
      const manifest = findManifest()
      if (manifest === undefined) return unbuilt()
      return page(incoming, readDashboardPage('frame.html'), {
        'content-security-policy': [
          'sandbox allow-scripts',
          "default-src 'none'",
          `script-src '${manifest.frameScript}'`,
          "style-src 'unsafe-inline'",
          images,
          "form-action 'none'",
          "base-uri 'none'",
          "frame-ancestors 'self'",
        ].join('; '),
        'x-frame-options': 'SAMEORIGIN',
        'x-dns-prefetch-control': 'off',
        'permissions-policy': NO_PERMISSIONS,
      })
    },
  })
}

/** A page that browsers ask for again each time, and get only if it has changed. */
function page(incoming: Incoming, text: string, policy: Record<string, string>): HttpResponse {
  return revalidated(incoming, text, {
    ...policy,
    'content-type': 'text/html; charset=utf-8',
    'x-robots-tag': 'noindex, nofollow',
  })
}

function revalidated(
  incoming: Incoming,
  body: string | Uint8Array<ArrayBuffer>,
  own: Record<string, string>,
): HttpResponse {
  const etag = `"${hash('sha256', body).slice(0, 32)}"`
  const headers = { ...own, 'cache-control': 'no-cache', etag }
  if (isKnownTag(incoming.headers['if-none-match'], etag)) return { status: 304, body: '', headers }
  return { status: 200, body, headers }
}

/**
 * The page, which loads the scripts of the screen at `address` along with those of the frame, and beside them the
 * answers that the frame asks for first.
 */
function appPage(address: string, hasSession: boolean): string {
  const scripts = findScreenFiles(address).map((name) => {
    return `<link rel="modulepreload" href="${BASE}/app/assets/${name}">\n`
  })
  const answers = [...FIRST_CALLS, ...(hasSession ? SESSION_CALLS : [])].map((path) => {
    return `<link rel="preload" as="fetch" crossorigin href="${BASE}${path}">\n`
  })
  return readDashboardPage('index.html').replace(PRELOADS, [...scripts, ...answers].join(''))
}

function withBase({ config }: Core, text: string): string {
  return text.replaceAll(BASE, ownPath(config, ''))
}

function unbuilt(): HttpResponse {
  return { status: 503, body: UNBUILT, headers: { 'content-type': 'text/plain; charset=utf-8' } }
}
