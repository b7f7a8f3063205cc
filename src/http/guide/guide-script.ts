/**
 * The script of the guide: a button that copies each block of code. Without scripts, or in a browser that copies
 * only over HTTPS, there are no buttons.
 */
export const GUIDE_SCRIPT = `
if (navigator.clipboard) {
  for (const block of document.querySelectorAll('pre')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      const copied = await navigator.clipboard.writeText(block.textContent.replace(/\\n$/, '')).then(() => true, () => false)
      button.textContent = copied ? 'Copied' : 'Not copied'
      setTimeout(() => { button.textContent = 'Copy' }, 2000)
    })
    const frame = document.createElement('div')
    frame.className = 'code'
    block.replaceWith(frame)
    frame.append(block, button)
  }
}
`
