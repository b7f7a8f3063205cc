/**
 * The test files, the source that they import and the packages as one file: a process loads the bundle in
 * half the processor time that it needs for a thousand files. A module runs when a test file first needs
 * it, as from source.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { bundling } from '../build.config.ts'
import { bundledPackages } from './bundle.ts'

/** Packages in CommonJS, inside a bundle of ES modules, call `require`. */
export const REQUIRE_BANNER =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);"

const OPTIONS: BuildOptions = {
  ...bundling,
  format: 'esm',
  // They read or start files of their own packages.
  external: ['better-sqlite3', 'esbuild', 'oidc-provider', 'playwright-core'],
  banner: { js: REQUIRE_BANNER },
  define: {
    'import.meta.dirname': 'placeOfFile.dirname',
    'import.meta.filename': 'placeOfFile.filename',
    'import.meta.url': 'placeOfFile.url',
    // No file is the entry.
    'import.meta.main': 'false',
  },
  sourcemap: 'external',
  sourcesContent: false,
  logLevel: 'warning',
}

/**
 * Writes the bundle to `bundle` and its source map to `<bundle>.map`. The bundle exports `testFiles`, a
 * function for each of the files that runs the file.
 */
export async function bundleTests(bundle: string, files: readonly string[]): Promise<void> {
  const members = files.map((file) => {
    return `${JSON.stringify(file)}: () => import(${JSON.stringify(`./${file}`)}),`
  })
  const contents = `export const testFiles = {\n${members.join('\n')}\n}\n`
  const { warnings } = await build({
    ...OPTIONS,
    stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
    outfile: bundle,
    plugins: [...bundledPackages, placesOfSource],
  })
  if (warnings.length > 0) throw new Error('the bundler warned, see above')
}

/** Each file of the repository keeps its own place, where it finds its neighbours. */
const placesOfSource: Plugin = {
  name: 'places-of-source',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      if (file.includes(`${path.sep}node_modules${path.sep}`)) return undefined
      const text = await readFile(file, 'utf8')
      if (!text.includes('import.meta')) return undefined
      const place = { dirname: path.dirname(file), filename: file, url: pathToFileURL(file).href }
      // In the first line, so that all lines keep their numbers.
      return { contents: `const placeOfFile = ${JSON.stringify(place)};${text}`, loader: 'ts' }
    })
  },
}
