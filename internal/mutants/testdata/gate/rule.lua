return 'closed'
