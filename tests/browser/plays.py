"""Workflows of scripted agents that are played while somebody looks at the page."""

RELEASE = r"""
name: release
context: {document_owner: none}
budget: {cost: 5, time: 30m, attempts: 60}
defaults: {backend: scripted}
agents:
  lead:
    description: hands out the work
    script:
      - on: 'PROPOSAL:(\S+)\]'
        calls: [{vote: {proposal: $1, choice: session, reason: easy to end}}]
      - on: empty passwords
        calls:
          - document_write: {file: notes.md, content: "# Notes\n\n- Empty passwords are **refused**.\n"}
          - proposal_create:
              type: decision
              title: How do users log in?
              options: [{id: jwt, label: Signed tokens}, {id: session, label: Server sessions}]
              electors: [lead, human]
              timeoutSeconds: 3600
        say: "@coder please reject empty passwords."
        usage: {tokens: 12400, turns: 3, cost: 0.21}
  coder:
    description: writes code
    script:
      - on: please reject
        calls:
          - request_create: {to: human, type: permission, title: Run the tests, body: "make test ARGS='-x'"}
          - request_create: {to: human, type: question, title: Which Python?}
        say: "@human may I?"
        usage: {tokens: 48100, turns: 9, cost: 0.74}
      - {on: '\[APPROVED', say: "The tests pass."}
      - {on: '\[DENIED', say: "Then not."}
      - {on: '\[ANSWERED', say: "Understood."}
kickoff: "@lead our login accepts empty passwords."
"""

PLAN = r"""
name: plan
context: {document_owner: none}
defaults: {backend: scripted}
agents:
  coder:
    script:
      - {on: 'TASK:(\S+)\] first', say: "The first is done."}
      - {on: 'TASK:(\S+)\] second', fail: the runner was not ready}
      - {on: 'TASK:(\S+)\] third', say: "The third is done."}
tasks:
  - {name: first, description: "Do *this* first.", agent: coder, checks: [{approval: human}]}
  - {name: second, description: Do this then., agent: coder, depends_on: [first]}
  - {name: third, description: Do this beside it., agent: coder, depends_on: [first]}
  - {name: fourth, description: Do this at last., agent: coder, depends_on: [second, third]}
max_parallel_tasks: 2
"""
