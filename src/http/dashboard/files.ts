/**
 * The files of the dashboard, which `scripts/dashboard.ts` builds. From source they are read at each request,
 * so that a new build shows after a reload; a server whose dashboard was not built has none.
 */
import { existsSync } from 'node:fs'
import sea from 'node:sea'
import { assetSource, readAsset } from '../../config/assets.ts'
import type { ContentCoding } from '../exchange/compression/compressed-routes.ts'

/** Stands in the pages for the path of `base_url`. */
export const BASE = '{{base}}'
/** Stands in the page of the app for the scripts of its screen. */
export const PRELOADS = '{{preloads}}'

export type DashboardManifest = {
  /** The digest of what the build read. */
  inputs: string
  /** The names at `/app/assets/`. */
  files: readonly string[]
  /** Scripts of screens by their addresses below `/app`, in which `:name` stands for any value. The first fits. */
  screens: readonly { path: string; files: readonly string[] }[]
  /** The source `sha256-…` of the script in the mail frame, for its policy. */
  frameScript: string
}

/** `isCoded`: the bytes have the coding that was asked for. */
type DashboardFile = { bytes: Uint8Array<ArrayBuffer>; contentType: string; isCoded: boolean }

const FOLDER = 'dashboard'
/** The one file whose name stays when it changes. */
export const LICENCES = 'licences.txt'

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
}

const EXTENSIONS: Readonly<Record<ContentCoding, string>> = { br: '.br', gzip: '.gz' }

let embedded: DashboardManifest | undefined

/** The manifest; undefined without a build. */
export function findManifest(): DashboardManifest | undefined {
  if (embedded !== undefined) return embedded
  if (!sea.isSea() && !existsSync(assetSource(`${FOLDER}/manifest.json`))) return undefined
  const manifest = JSON.parse(readAsset(`${FOLDER}/manifest.json`).toString('utf8'))
  if (sea.isSea()) embedded = manifest
  return manifest
}

/** A file at `/app/assets/`, in the coding; undefined for a name that is none. `name` never becomes a path. */
export function findFile(
  name: string,
  coding: ContentCoding | undefined,
): DashboardFile | undefined {
  const isLicences = name === LICENCES
  const files = findManifest()?.files ?? []
  if (!files.includes(name) && !(isLicences && files.length > 0)) return undefined
  const contentType = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  const extension = coding === undefined || isLicences ? '' : EXTENSIONS[coding]
  const bytes = new Uint8Array(readAsset(`${FOLDER}/${name}${extension}`))
  return { bytes, contentType, isCoded: extension !== '' }
}

/** The scripts of the screen at an address below `/app`; none at one that is unknown. */
export function findScreenFiles(address: string): readonly string[] {
  const given = address.split('/').filter((piece) => piece !== '')
  const screen = findManifest()?.screens.find(({ path }) => {
    const pieces = path.slice(1).split('/')
    return (
      pieces.length === given.length &&
      pieces.every((piece, at) => piece.startsWith(':') || piece === given[at])
    )
  })
  return screen?.files ?? []
}

/** The text of a page. @throws Error without a build */
export function readDashboardPage(name: 'index.html' | 'frame.html'): string {
  return readAsset(`${FOLDER}/${name}`).toString('utf8')
}
