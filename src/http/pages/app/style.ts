/** Links that look like the buttons of the hosted pages, for targets on other hosts. */
export const APP_STYLE = `
a.button {
  display: flex;
  align-items: center;
  justify-content: center;
  min-height: 3rem;
  padding: .625rem 1.25rem;
  border: 1px solid var(--accent);
  border-radius: .625rem;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-align: center;
  text-decoration: none;
}
a.button:hover { text-decoration: underline; }
.note { margin-bottom: 1.5rem; }
`
