/**
 * The entry of `pillarbox`. An old Node is told so before anything of ours is loaded: what it
 * would say itself about our syntax helps nobody.
 */
// As `ps` and `top` name it, whatever runs the code.
process.title = 'pillarbox'
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Pillarbox needs Node.js 22.19 or newer, and this is ${process.versions.node}. "npm ci" brings ` +
      'the right one, which "npm start" and "npm run pillarbox -- COMMAND" use.\n',
  )
  process.exitCode = 1
} else {
  import('./cli/cli.ts')
    .then(({ runCli }) => runCli(process.argv.slice(2)))
    .then((status) => {
      process.exitCode = status
    })
}
